#include "schedules/plan/advice.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

#include "schedules/checks/check.h"
#include "schedules/plan/changes.h"
#include "schedules/plan/plan.h"
#include "sim/input_error.h"

namespace stepcast::schedules {
namespace {

constexpr std::size_t kMostAdvice = 3;

/// What is missing where nothing can be said about a plan.
constexpr Bytes kUnknown{std::numeric_limits<std::int64_t>::max()};

Bytes missing(const OutOfMemory& over) { return over.needed - over.available; }

/// What a plan lacks.
struct Lack {
  Bytes missing{};     ///< of a GPU or of a node
  double of_node = 0;  ///< of all a node's GPUs or of the node: what two plans are compared by
  bool fits() const { return missing == Bytes{}; }
};

double passes(const Scenario& s) {
  return static_cast<double>(s.parallelism.pipeline) * s.pipeline.virtual_stages * micro_batches(s);
}

/// Tries changes of one scenario.
class Trials {
 public:
  Trials(const Scenario& s, workload::Machines& machines, const OutOfMemory& over)
      : original_(s), machines_(machines), start_(lack(over)) {}

  const Lack& start() const { return start_; }

  Lack of(const Scenario& s) {
    constexpr Lack kRefused{kUnknown, std::numeric_limits<double>::infinity()};
    constexpr double kMostPasses = 1 << 16;
    if (!check(s).empty() || passes(s) > std::max(kMostPasses, 2 * passes(original_))) return kRefused;
    try {
      if (s.cluster.gpus != original_.cluster.gpus)
        machines_.of(machine_of(s));  // where there is no such cluster: throws
      const auto over = plan(s, machines_).out_of_memory;
      return over ? lack(*over) : Lack{};
    } catch (const InputError&) {  // the cluster cannot carry it
      return kRefused;
    } catch (const std::overflow_error&) {
      return kRefused;
    }
  }

  Advice advice(const Scenario& s, Bytes missing = {}) const {
    return {settings(original_, s), missing, s.cluster.gpus > original_.cluster.gpus};
  }

 private:
  Lack lack(const OutOfMemory& over) const {
    const double gpus = over.memory == Tier::gpu ? original_.cluster.node.gpus : 1;
    return {missing(over), gpus * static_cast<double>(missing(over).value)};
  }

  const Scenario& original_;
  workload::Machines& machines_;
  Lack start_;
};

/// Which change of each group is made; none: of that group none.
using Choice = std::vector<std::optional<std::size_t>>;

Scenario changed(Scenario s, const std::vector<ChangeGroup>& groups, const Choice& choice) {
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (choice[group]) groups[group][*choice[group]](s);
  return s;
}

/// Group after group takes the change that lacks least, until all fits.
Choice best_choice(const Scenario& s, const std::vector<ChangeGroup>& groups, Trials& trials, Lack& least) {
  Choice choice(groups.size());
  for (std::size_t group = 0; group < groups.size() && !least.fits(); ++group) {
    Choice tried = choice;
    for (std::size_t change = 0; change < groups[group].size() && !least.fits(); ++change) {
      tried[group] = change;
      if (const Lack lack = trials.of(changed(s, groups, tried)); lack.of_node < least.of_node) {
        least = lack;
        choice = tried;
      }
    }
  }
  return choice;
}

/// The same with every change left out, or made milder, without which no more is missing.
Choice mildest(const Scenario& s, const std::vector<ChangeGroup>& groups, Choice choice, Trials& trials,
               const Lack& allowed) {
  for (std::size_t group = groups.size(); group-- > 0;) {
    if (!choice[group]) continue;
    Choice tried = choice;
    tried[group].reset();
    for (std::size_t milder = 0; milder <= *choice[group]; ++milder) {
      if (trials.of(changed(s, groups, tried)).of_node <= allowed.of_node) {
        choice = tried;
        break;
      }
      tried[group] = milder;
    }
  }
  return choice;
}

/// Of each group the mildest change that makes it fit by itself.
void add_single_changes(const Scenario& s, const std::vector<ChangeGroup>& groups, Trials& trials,
                        std::vector<Advice>& out) {
  for (const ChangeGroup& group : groups) {
    if (out.size() == kMostAdvice) return;
    for (const Change& change : group) {
      Scenario tried = s;
      change(tried);
      if (!trials.of(tried).fits()) continue;
      out.push_back(trials.advice(tried));
      break;
    }
  }
}

/// The changes of several groups that make it fit together, if any do.
void add_changes_together(const Scenario& s, const std::vector<ChangeGroup>& groups, Trials& trials,
                          std::vector<Advice>& out) {
  Lack least = trials.start();
  const Choice best = best_choice(s, groups, trials, least);
  if (least.fits()) out.push_back(trials.advice(changed(s, groups, mildest(s, groups, best, trials, least))));
}

}  // namespace

std::vector<Advice> advice(const Scenario& s, workload::Machines& machines, const OutOfMemory& over) {
  Trials trials(s, machines, over);
  std::vector<ChangeGroup> groups = mild_changes(s);
  const auto with = [&](const std::vector<ChangeGroup>& more) {
    groups.insert(groups.end(), more.begin(), more.end());
  };
  std::vector<Advice> out;
  add_single_changes(s, groups, trials, out);
  if (out.empty()) add_changes_together(s, groups, trials, out);
  const std::vector<ChangeGroup> placing = placing_changes(s), dear = dear_changes(s);
  add_single_changes(s, placing, trials, out);
  with(placing);
  if (out.empty()) add_changes_together(s, groups, trials, out);
  if (out.empty()) add_single_changes(s, dear, trials, out);
  if (!out.empty()) return out;

  with(dear);
  Lack least = trials.start();
  const Choice best = best_choice(s, groups, trials, least);
  const Scenario nearest = changed(s, groups, mildest(s, groups, best, trials, least));
  if (least.of_node < trials.start().of_node) out.push_back(trials.advice(nearest, trials.of(nearest).missing));
  if (least.fits()) return out;
  for (const Change& grow : more_gpus(s)) {
    Scenario larger = s;
    grow(larger);
    if (!trials.of(changed(larger, groups, best)).fits()) continue;
    out.push_back(trials.advice(changed(larger, groups, mildest(larger, groups, best, trials, {}))));
    break;
  }
  return out;
}

}  // namespace stepcast::schedules
