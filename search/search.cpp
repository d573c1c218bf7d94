#include "search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <limits>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "calibrate/in_parallel.h"
#include "models/layers/partition.h"
#include "schedules/checks/check.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/plan/plan.h"
#include "search/bound.h"
#include "search/costs.h"
#include "search/given_cuts.h"
#include "search/layer_cuts.h"
#include "search/other_settings.h"
#include "search/refused_pipelines.h"
#include "sim/input_error.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

/// So many layouts are screened and plans bounded anew, or plans simulated, before it is decided which ones come next:
/// the same number on any machine, so that the same plans are.
constexpr std::size_t kBoundedAtOnce = 64, kSimulatedAtOnce = 16;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What plans are told apart by, the better one less.
struct Score {
  std::int64_t first = 0, then = 0;
  std::uint64_t place = 0;  ///< in the space
  auto operator<=>(const Score&) const = default;
};

/// What an Open stands for, and what it is bounded by: all plans of a layout, by their kernels, or by all that their
/// layers take; one of them that fits, by its passes, with what its traffic takes at least, or by all that is known
/// (nothing where the search is exhaustive).
enum class Known : std::uint8_t { kernels, layers, passes, least_traffic, all };

/// A layout that is not screened yet, or a plan that fits and is not simulated yet.
struct Open {
  Score score;  ///< none of it has less
  Time bound{};
  Bytes memory{};
  std::uint32_t shared = 0;  ///< its place among the shared settings
  OtherSettings others{};
  Known known = Known::passes;
};

struct Later {
  bool operator()(const Open& a, const Open& b) const { return b.score < a.score; }
};

/// The plans of a layout, which share the values of the first kSharedAxes, before anybody asks which of them fit.
struct Outline {
  std::uint64_t plans = 0;            ///< that the checks accept
  Time bound{};                       ///< none of them takes less
  std::vector<OtherSettings> unlike;  ///< of each kind of plans that have their layers in common, the first
  std::string problem;                ///< of the first plan that the checks refuse
};

/// What screening says of the plans of a layout.
struct Screened {
  std::vector<Open> open;
  std::uint64_t plans = 0, refused = 0, failed = 0;
  std::optional<Refused> nearest;
  std::string failure;  ///< of the first that failed
};

bool misses_less(const std::optional<Refused>& a, const std::optional<Refused>& b) {
  return a && (!b || std::tie(a->missing, a->settings) < std::tie(b->missing, b->settings));
}

Bytes peak_memory(const schedules::Plan& plan) {
  Bytes most{};
  for (const schedules::MemoryUse& use : plan.memory) most = std::max(most, use.peak());
  return most;
}

class PlanSearch {
 public:
  PlanSearch(const Space& space, const SearchOptions& options, workload::Machines& machines)
      : space_(space), options_(options), machines_(machines) {}

  SearchAnswer run() {
    for (const schedules::Problem& problem : objective_problems(options_.objective, space_.start))
      throw InputError(problem.key, problem.text);
    const auto begin = std::chrono::steady_clock::now();
    outline();
    go_through();
    const bool is_cut_short = answer_.left > 0 || answer_.unscreened > 0;
    answer_.stopped = is_stopped() && is_cut_short;
    if (!start_is_simulated_) simulate_start();
    if (answer_.own && is_cut_short && why_unwanted(space_.start).empty()) keep_start(*answer_.own);
    certify();
    const double all = seconds_since(begin);
    const auto screened = first_simulated_.value_or(std::chrono::steady_clock::now());
    answer_.screening_seconds = std::chrono::duration<double>(screened - begin).count();
    answer_.simulating_seconds = all - answer_.screening_seconds;
    for (KeptPlan& each : best_) answer_.best.push_back(std::move(each.found));
    std::ranges::sort(front_, {}, &OnFront::step);
    for (const OnFront& each : front_) answer_.front.push_back({each.settings, each.step, each.memory});
    return std::move(answer_);
  }

 private:
  void simulate_start() {
    try {
      if (!schedules::check(space_.start).empty()) return;
      schedules::Forecast own = schedules::forecast(space_.start, machines_, {.advise = false});
      if (own.out_of_memory) answer_.own_misses = own.out_of_memory->needed - own.out_of_memory->available;
      if (!own.simulated || own.out_of_memory) return;
      const Bytes memory = peak_memory(schedules::plan(space_.start, machines_));
      answer_.own = FoundPlan{{}, space_.start, std::move(own), {}, memory};
    } catch (const InputError&) {  // the cluster cannot carry it
    }
  }

  /// Where the search ended before its time, the plan that it starts from is found too, if it is one of the space.
  void keep_start(FoundPlan own) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      own.settings[axis] = axes()[axis].of(space_.start);
      if (std::ranges::find(space_.values[axis], own.settings[axis]) == space_.values[axis].end()) return;
    }
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();  // its place, which nobody has looked up
    const Score of_start = score(own.scenario, own.forecast.step, own.memory, &own.forecast, kLast);
    if (!best_.empty() && best_.front().score.first <= of_start.first) return;  // it may be found already
    keep(std::move(own), kLast);
    ++answer_.simulated;
    if (answer_.left > 0) --answer_.left;
  }

  /// Of money and energy.
  static std::int64_t billionths(double amount) { return static_cast<std::int64_t>(amount * 1e9); }

  /// `forecast`: of the plan, or none where `step` is only what it takes at least.
  Score score(const Scenario& plan, Time step, Bytes memory, const schedules::Forecast* forecast,
              std::uint64_t place) const {
    const auto computing = [&] {
      return forecast != nullptr ? computing_share(*forecast) : least_drawing_share(plan.run.power);
    };
    switch (options_.objective) {
      case Objective::step_time:
        return {step.value, memory.value, place};
      case Objective::memory:
        return {memory.value, step.value, place};
      case Objective::gpus:
        return {plan.cluster.gpus, step.value, place};
      case Objective::money:
        return {billionths(step_money(plan, step, computing()).value().amount), step.value, place};
      case Objective::energy:
        return {billionths(step_energy(plan, step, computing()).value().value), step.value, place};
    }
    return {};
  }

  /// Goes through all layouts, and makes those wait that have plans.
  void outline() {
    shared_ = shared_settings(space_);
    outlines_.resize(shared_.size());
    std::atomic<std::size_t> unscreened{0};
    calibrate::in_parallel(shared_.size(), [&](std::size_t i) {
      if (is_stopped()) {
        ++unscreened;
        return;
      }
      outlines_[i] = outlined(i);
    });
    answer_.unscreened = unscreened;
    std::string problem;
    for (std::size_t i = 0; i < outlines_.size(); ++i) {
      Outline& layout = outlines_[i];
      if (problem.empty()) problem = std::move(layout.problem);
      if (layout.plans == 0) continue;
      all_plans_ += layout.plans;
      Scenario plan = space_.start;
      set_shared(plan, shared_[i]);
      Open& open = waiting_layouts_.emplace_back();
      open.known = options_.exhaustive ? Known::layers : Known::kernels;
      open.bound = layout.bound;
      open.shared = static_cast<std::uint32_t>(i);
      open.score = score(plan, open.bound, {}, nullptr, place_of(i, 0));
    }
    if (all_plans_ == 0 && answer_.unscreened == 0)
      throw InputError("search", problem.empty()
                                     ? "no sizes divide the GPUs and the global batch; expected other values of --over"
                                     : "no plan can run; the first: " + problem);
  }

  /// Of a layout's plans, in the order of the space.
  static std::uint64_t place_of(std::size_t shared, std::size_t number) {
    return (std::uint64_t{shared} << 32) + number;
  }

  /// Calls `visit` with the settings of each plan of a layout that the checks accept, and the plan; but not of plans
  /// that `skip`, asked before the checks, is true of. Returns what is wrong with the first that they refuse.
  template <class Skip, class Visit>
  std::string each_accepted(std::size_t shared, const Skip& skip, const Visit& visit) const {
    Scenario plan = space_.start;
    set_shared(plan, shared_[shared]);
    const Scenario start = plan;
    // Of all plans of the layout, or of none.
    if (const std::vector<schedules::Problem> of_all = schedules::check_layer_split(start); !of_all.empty())
      return of_all.front().key + ": " + of_all.front().text;
    std::string problem;
    RefusedPipelines refused_pipelines;
    each_plan(space_, shared_[shared], [&](const Settings& settings) {
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

  /// Thread-safe. A cut of layers by what they take counts as a plan of its own, which it is not where it is the given
  /// one: that is seen once the plans are screened.
  Outline outlined(std::size_t shared) const {
    Outline out;
    schedules::SharedParts parts;
    std::set<std::array<bool, 4>> kinds;  // by what of a plan its layers depend on
    out.problem = each_accepted(
        shared, [](const Settings&) { return false; },
        [&](const Settings& settings, const Scenario& plan) {
          ++out.plans;
          const schedules::PipelineSchedule* schedule = schedules::find_pipeline(plan.pipeline.schedule);
          const bool is_new = kinds
                                  .insert({casts_weights_anew(plan), has_loss_block(plan),
                                           schedule == nullptr || schedule->runs_together,
                                           schedule != nullptr && schedule->splits_backward})
                                  .second;
          if (!is_new || options_.exhaustive) return;
          const Time bound = bounded([&] { return StepBound::of_kernels(plan, parts); });
          out.bound = out.unlike.empty() ? bound : std::min(out.bound, bound);
          out.unlike.push_back(others_of(settings));
        });
    return out;
  }

  /// 0 where the plan cannot be bounded for what screening will say.
  template <class Bound>
  static Time bounded(const Bound& bound) {
    try {
      return bound();
    } catch (const InputError&) {
    } catch (const std::overflow_error&) {
    }
    return {};
  }

  /// `into`: a Screened or the SearchAnswer.
  template <class Counts>
  static void fail(Counts& into, const std::string& why) {
    ++into.failed;
    if (into.failure.empty()) into.failure = why;
  }

  /// Thread-safe.
  Screened screened(std::size_t shared) const {
    Screened out;
    std::optional<StepBound> bound;
    std::optional<LayerCuts> cuts;
    GivenCuts given;
    schedules::SharedParts parts;
    const auto is_known = [&](const Settings& settings) { return is_balanced(settings) && given.surely_has(settings); };
    each_accepted(shared, is_known, [&](const Settings& settings, Scenario& plan) {
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
        if (const auto& over = made.out_of_memory) {
          ++out.refused;
          const Refused refused{settings, over->needed - over->available};
          if (misses_less(refused, out.nearest)) out.nearest = refused;
          return;
        }
        if (!bound) bound.emplace(machines_.of(machine_of(plan)));
        Open& open = out.open.emplace_back();
        open.bound = bound->of_passes(plan, made);
        open.memory = peak_memory(made);
        open.score = score(plan, open.bound, open.memory, nullptr, place_of(shared, out.open.size() - 1));
        open.shared = static_cast<std::uint32_t>(shared);
        open.others = others_of(settings);
      } catch (const InputError& why) {  // the cluster cannot be built, or not carry it
        fail(out, why.what());
      } catch (const std::overflow_error& why) {
        fail(out, why.what());
      }
    });
    return out;
  }

  Settings settings_of(std::uint32_t shared, const OtherSettings& others) const {
    Settings settings = shared_[shared];
    for (std::size_t axis = kSharedAxes; axis < kAxes; ++axis) settings[axis] = others[axis - kSharedAxes];
    return settings;
  }

  /// Whether the plan cannot be among the best, nor on the front.
  bool is_beaten(const Open& open) const {
    if (options_.exhaustive) return false;
    if (options_.within && open.bound >= *options_.within) return true;
    if (best_.size() < options_.top || open.score < best_.back().score) return false;
    return !options_.front || std::ranges::any_of(front_, [&](const OnFront& other) {
      return beats(other, open.bound, open.memory, open.score.place);
    });
  }

  using Waiting = std::priority_queue<Open, std::vector<Open>, Later>;

  /// Simulates the plans that may be among the best, those first that may be better.
  void go_through() {
    const std::size_t layouts = waiting_layouts_.size();
    Waiting waiting(Later{}, std::move(waiting_layouts_));
    std::uint64_t left = options_.budget.value_or(std::numeric_limits<std::uint64_t>::max());
    std::vector<Open> taken;
    while (!waiting.empty() && left > 0 && !is_stopped()) {
      taken.clear();
      const bool simulated = waiting.top().known == Known::all;
      const std::size_t most = simulated ? std::min<std::uint64_t>(kSimulatedAtOnce, left) : kBoundedAtOnce;
      while (!waiting.empty() && taken.size() < most && (waiting.top().known == Known::all) == simulated) {
        if (is_beaten(waiting.top()))
          answer_.bounded += plans_of(waiting.top());
        else
          taken.push_back(waiting.top());
        waiting.pop();
      }
      if (simulated) {
        left -= simulate(taken);
      } else {
        bound(taken, waiting);
      }
      if (options_.watch)
        options_.watch(first_simulated_ ? SearchState{plans_decided(), all_plans_, true, best_step()}
                                        : SearchState{layouts_screened_, layouts, false, {}});
    }
    drop_what_is_left(waiting);
  }

  static bool is_layout(const Open& open) { return open.known == Known::kernels || open.known == Known::layers; }

  /// How many plans stand there, which are counted from now on where nobody looks at each.
  std::uint64_t plans_of(const Open& open) {
    if (!is_layout(open)) return 1;
    const std::uint64_t plans = outlines_[open.shared].plans;
    answer_.screened += plans;
    return plans;
  }

  std::uint64_t plans_decided() const {
    return answer_.refused + answer_.bounded + answer_.simulated + answer_.failed + answer_.unwanted;
  }

  /// Thread-safe. Empty: it is wanted.
  std::string why_unwanted(const Scenario& plan) const {
    return options_.unwanted ? options_.unwanted(plan) : std::string{};
  }

  /// Thread-safe.
  bool is_stopped() const { return options_.stopped && options_.stopped(); }

  std::optional<Time> best_step() const {
    if (best_.empty()) return std::nullopt;
    return best_.front().found.forecast.step;
  }

  /// A plan that nobody simulates any more, though it may be among the best.
  void leave(const Open& open) {
    answer_.left += plans_of(open);
    least_left_ = std::min(least_left_.value_or(open.score.first), open.score.first);
  }

  void drop_what_is_left(Waiting& waiting) {
    for (; !waiting.empty(); waiting.pop()) {
      if (is_beaten(waiting.top()))
        answer_.bounded += plans_of(waiting.top());
      else
        leave(waiting.top());
    }
  }

  void certify() {
    if (best_.empty() || answer_.unscreened > 0) return;
    if (!least_left_)
      answer_.gap = 0;
    else if (*least_left_ > 0)
      answer_.gap =
          std::max(0.0, static_cast<double>(best_.front().score.first) / static_cast<double>(*least_left_) - 1);
  }

  /// Finds out more of layouts and plans.
  void bound(std::vector<Open>& taken, Waiting& waiting) {
    std::vector<std::optional<Screened>> layouts(taken.size());
    calibrate::in_parallel(taken.size(), [&](std::size_t i) {
      Open& open = taken[i];
      if (open.known == Known::layers)
        layouts[i] = screened(open.shared);
      else if (open.known == Known::kernels)
        bound_layers(open);
      else
        refine(open);
    });
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (!layouts[i]) {
        waiting.push(taken[i]);
        continue;
      }
      ++layouts_screened_;
      answer_.screened += layouts[i]->plans;
      answer_.refused += layouts[i]->refused;
      answer_.failed += layouts[i]->failed;
      if (answer_.failure.empty()) answer_.failure = std::move(layouts[i]->failure);
      if (misses_less(layouts[i]->nearest, answer_.nearest)) answer_.nearest = layouts[i]->nearest;
      for (Open& open : layouts[i]->open) {
        if (options_.exhaustive) open.known = Known::all;
        waiting.push(open);
      }
    }
  }

  /// Of the plans of a layout, with the traffic inside layers.
  void bound_layers(Open& layout) const {
    schedules::SharedParts parts;
    Scenario plan = space_.start;
    set_shared(plan, shared_[layout.shared]);
    const Scenario start = plan;
    std::optional<Time> least;
    for (const OtherSettings& others : outlines_[layout.shared].unlike) {
      plan = start;
      set_others(plan, settings_of(layout.shared, others));
      const Time bound = bounded([&] { return StepBound::of_layers(plan, *machines_.of(machine_of(plan)), parts); });
      least = std::min(bound, least.value_or(bound));
    }
    layout.bound = std::max(layout.bound, least.value_or(Time{}));
    layout.score = score(start, layout.bound, {}, nullptr, layout.score.place);
    layout.known = Known::layers;
  }

  void refine(Open& open) const {
    const Settings settings = settings_of(open.shared, open.others);
    const Known known = std::exchange(open.known, Known::all);
    try {
      const Scenario plan = plan_of(space_, settings, machines_);
      if (!why_unwanted(plan).empty()) return;  // simulate() says so
      const schedules::Plan made = schedules::plan(plan, machines_);
      StepBound bound(machines_.of(machine_of(plan)));
      std::optional<Time> least;
      if (known == Known::passes) least = bound.with_least_traffic(plan, made);
      open.bound = std::max(open.bound, least ? *least : bound.with_traffic(plan, made));
      open.score = score(plan, open.bound, open.memory, nullptr, open.score.place);
      if (least) open.known = Known::least_traffic;
    } catch (const InputError&) {  // simulate() says so
    }
  }

  /// Those that are wanted. Returns how many were tried.
  std::size_t simulate(const std::vector<Open>& taken) {
    if (!first_simulated_) first_simulated_ = std::chrono::steady_clock::now();
    std::vector<std::optional<FoundPlan>> found(taken.size());
    std::vector<std::string> failures(taken.size()), unwanted(taken.size());
    std::vector<char> left(taken.size(), 0);
    // The plan that the search starts from, which may take the longest of all, beside the first others.
    const std::size_t before = std::exchange(start_is_simulated_, true) ? 0 : 1;
    calibrate::in_parallel(before + taken.size(), [&](std::size_t number) {
      if (number < before) {
        simulate_start();
        return;
      }
      const std::size_t i = number - before;
      const Settings settings = settings_of(taken[i].shared, taken[i].others);
      left[i] = is_stopped();
      if (left[i] != 0) return;
      try {
        Scenario plan = plan_of(space_, settings, machines_);
        unwanted[i] = why_unwanted(plan);
        if (!unwanted[i].empty()) return;
        schedules::Forecast forecast = schedules::forecast(plan, machines_, {.advise = false});
        found[i] = {settings, std::move(plan), std::move(forecast), taken[i].bound, taken[i].memory};
      } catch (const InputError& why) {
        failures[i] = why.what();
      } catch (const std::overflow_error& why) {
        failures[i] = why.what();
      }
    });
    std::size_t tried = taken.size();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (left[i] != 0) {
        leave(taken[i]);
      } else if (!unwanted[i].empty()) {
        --tried;
        if (answer_.unwanted++ == 0) answer_.why_unwanted = unwanted[i];
      } else if (!found[i]) {
        fail(answer_, failures[i]);
      } else {
        ++answer_.simulated;
        keep(*std::move(found[i]), taken[i].score.place);
      }
    }
    return tried;
  }

  struct KeptPlan {
    Score score;
    FoundPlan found;
  };

  void keep(FoundPlan found, std::uint64_t place) {
    const Time step = found.forecast.step;
    if (options_.within && step >= *options_.within) {
      ++answer_.late;
      return;
    }
    if (options_.front &&
        std::ranges::none_of(front_, [&](const OnFront& other) { return beats(other, step, found.memory, place); })) {
      const OnFront own{found.settings, step, found.memory, place};
      std::erase_if(front_, [&](const OnFront& other) { return beats(own, other.step, other.memory, other.place); });
      front_.push_back(own);
    }
    const Score own = score(found.scenario, step, found.memory, &found.forecast, place);
    const auto at = std::ranges::upper_bound(best_, own, {}, &KeptPlan::score);
    if (at == best_.end() && best_.size() >= options_.top) return;
    best_.insert(at, {own, std::move(found)});
    if (best_.size() > options_.top) best_.pop_back();
  }

  struct OnFront {
    Settings settings{};
    Time step{};
    Bytes memory{};
    std::uint64_t place = 0;
  };

  /// Whether a plan is no worse than one of that time and memory in either, and stands before it or is better in one.
  static bool beats(const OnFront& one, Time step, Bytes memory, std::uint64_t place) {
    return one.step <= step && one.memory <= memory && (one.step < step || one.memory < memory || one.place < place);
  }

  const Space& space_;
  const SearchOptions& options_;
  workload::Machines& machines_;
  std::vector<Settings> shared_;
  std::vector<Outline> outlines_;  ///< of each layout
  std::vector<Open> waiting_layouts_;
  std::uint64_t all_plans_ = 0;  ///< of all layouts
  std::size_t layouts_screened_ = 0;
  bool start_is_simulated_ = false;
  std::optional<std::chrono::steady_clock::time_point> first_simulated_;
  std::vector<KeptPlan> best_;  ///< ascending
  std::vector<OnFront> front_;
  std::optional<std::int64_t> least_left_;  ///< of the objective, what a plan that was left could have
  SearchAnswer answer_;
};

}  // namespace

SearchAnswer search(const Space& space, const SearchOptions& options, workload::Machines& machines) {
  return PlanSearch(space, options, machines).run();
}

}  // namespace stepcast::search
