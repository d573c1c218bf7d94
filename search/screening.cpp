#include "search/screening.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "models/layers/partition.h"
#include "models/layers/weight_work.h"
#include "schedules/checks/check.h"
#include "schedules/pipeline/pipelines.h"
#include "search/bound.h"
#include "search/given_cuts.h"
#include "search/layer_cuts.h"
#include "search/refused_pipelines.h"
#include "sim/input_error.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

/// 0 where the plan cannot be bounded for what screening will say.
template <class Bound>
Time bounded(const Bound& bound) {
  try {
    return bound();
  } catch (const InputError&) {
  } catch (const std::overflow_error&) {
  }
  return {};
}

}  // namespace

Bytes peak_memory(const schedules::Plan& plan) {
  Bytes most{};
  for (const schedules::MemoryUse& use : plan.memory) most = std::max(most, use.peak());
  return most;
}

std::optional<Bytes> missing_memory(const schedules::Plan& plan, std::optional<Bytes> most) {
  if (const auto& over = plan.out_of_memory) return over->needed - over->available;
  if (!most) return std::nullopt;
  const Bytes held = peak_memory(plan);
  return held > *most ? std::optional(held - *most) : std::nullopt;
}

Screening::Screening(const Space& space, Objective objective, bool bounds, std::optional<Bytes> most_memory,
                     workload::Machines& machines)
    : space_(space),
      objective_(objective),
      bounds_(bounds),
      most_memory_(most_memory),
      machines_(machines),
      layouts_(shared_settings(space)) {}

Scenario Screening::scenario_of(std::size_t layout) const {
  Scenario plan = space_.start;
  set_shared(plan, layouts_[layout]);
  return plan;
}

Settings Screening::settings_of(std::size_t layout, const OtherSettings& others) const {
  Settings settings = layouts_[layout];
  for (std::size_t axis = kSharedAxes; axis < kAxes; ++axis) settings[axis] = others[axis - kSharedAxes];
  return settings;
}

std::uint64_t Screening::place_of(std::size_t layout, std::size_t number) {
  return (std::uint64_t{layout} << 32) + number;
}

/// Calls `visit` with the settings of each plan of a layout that the checks accept, and the plan; but not of plans that
/// `skip`, asked before the checks, is true of. Returns what is wrong with the first that they refuse.
template <class Skip, class Visit>
std::string Screening::each_accepted(std::size_t layout, const Skip& skip, const Visit& visit) const {
  const Scenario start = scenario_of(layout);
  Scenario plan = start;
  // Of all plans of the layout, or of none.
  if (const std::vector<schedules::Problem> of_all = schedules::check_layer_split(start); !of_all.empty())
    return of_all.front().key + ": " + of_all.front().text;
  std::string problem;
  RefusedPipelines refused_pipelines;
  each_plan(space_, layouts_[layout], [&](const Settings& settings) {
    if (refused_pipelines.have(settings) || skip(settings)) return;
    // Setting an axis takes keys away that its next value may go with; these axes are of no other part.
    plan.parallelism = start.parallelism;
    plan.pipeline = start.pipeline;
    plan.data_parallel = start.data_parallel;
    set_others(plan, settings);
    if (const std::vector<schedules::Problem> problems = schedules::check_schedule(plan); !problems.empty()) {
      if (problem.empty()) problem = problems.front().key + ": " + problems.front().text;
      refused_pipelines.add(settings, problems);
      return;
    }
    visit(settings, plan);
  });
  return problem;
}

Outline Screening::outlined(std::size_t layout) const {
  Outline out;
  schedules::SharedParts parts;
  std::set<std::tuple<schedules::WeightWork, bool, bool, bool>> kinds;  // by what of a plan its layers depend on
  out.problem = each_accepted(
      layout, [](const Settings&) { return false; },
      [&](const Settings& settings, const Scenario& plan) {
        ++out.plans;
        const schedules::PipelineSchedule* schedule = schedules::find_pipeline(plan.pipeline.schedule);
        const bool is_new =
            kinds
                .insert({weight_work(plan), has_loss_block(plan), schedule == nullptr || schedule->runs_together,
                         schedule != nullptr && schedule->splits_backward})
                .second;
        if (!is_new || !bounds_) return;
        const Time bound = bounded([&] { return StepBound::of_kernels(plan, parts); });
        out.bound = out.unlike.empty() ? bound : std::min(out.bound, bound);
        out.unlike.push_back(others_of(settings));
      });
  return out;
}

Time Screening::bound_of_layers(std::size_t layout, const Outline& outline) const {
  schedules::SharedParts parts;
  const Scenario start = scenario_of(layout);
  std::optional<Time> least;
  for (const OtherSettings& others : outline.unlike) {
    Scenario plan = start;
    set_others(plan, settings_of(layout, others));
    const Time bound = bounded([&] { return StepBound::of_layers(plan, *machines_.of(machine_of(plan)), parts); });
    least = std::min(bound, least.value_or(bound));
  }
  return std::max(outline.bound, least.value_or(Time{}));
}

Screened Screening::screened(std::size_t layout) const {
  Screened out;
  std::optional<StepBound> bound;
  std::optional<LayerCuts> cuts;
  GivenCuts given;
  schedules::SharedParts parts;
  const auto fail = [&](const std::exception& why) {
    if (out.failed++ == 0) out.failure = why.what();
  };
  const auto is_known = [&](const Settings& settings) { return is_balanced(settings) && given.surely_has(settings); };
  each_accepted(layout, is_known, [&](const Settings& settings, Scenario& plan) {
    ++out.plans;
    try {
      const bool balanced = is_balanced(settings);
      if (balanced && !bound) bound.emplace(machines_.of(machine_of(plan)));
      if (balanced && !cuts) cuts.emplace(bound->times());
      const schedules::Plan made =
          balanced ? cuts->cut(plan, machines_, &parts) : schedules::plan(plan, machines_, &parts);
      if (!balanced) given.add(settings, made);
      if (balanced && given.has(settings, made)) {
        --out.plans;
        return;
      }
      if (const std::optional<Bytes> missing = missing_memory(made, most_memory_)) {
        ++out.refused;
        const Refused refused{settings, *missing};
        if (misses_less(refused, out.nearest)) out.nearest = refused;
        return;
      }
      if (!bound) bound.emplace(machines_.of(machine_of(plan)));
      FittingPlan fitting{.score = {},
                          .bound = bound->of_passes(plan, made),
                          .memory = peak_memory(made),
                          .others = others_of(settings)};
      fitting.score =
          least_score_of(objective_, plan, fitting.bound, fitting.memory, place_of(layout, out.fitting.size()));
      out.fitting.push_back(fitting);
    } catch (const InputError& why) {  // the cluster cannot be built, or not carry it
      fail(why);
    } catch (const std::overflow_error& why) {
      fail(why);
    }
  });
  return out;
}

}  // namespace stepcast::search
