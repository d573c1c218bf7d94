#include "search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "calibrate/in_parallel.h"
#include "schedules/checks/check.h"
#include "schedules/plan/plan.h"
#include "search/bound.h"
#include "search/screening.h"
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

/// What an Open stands for, and what it is bounded by: all plans of a layout, by their kernels, or by all that their
/// layers take; one of them that fits, by its passes, with what its traffic takes at least, or by all that is known
/// (nothing where the search is exhaustive).
enum class Known : std::uint8_t { kernels, layers, passes, least_traffic, all };

/// A layout that is not screened yet, or a plan that fits and is not simulated yet.
struct Open {
  Score score;  ///< none of it has less
  LeastStep bound{};
  Bytes memory{};
  std::uint32_t layout = 0;
  OtherSettings others{};
  Known known = Known::passes;
  bool wanted = false;  ///< SearchOptions::unwanted was asked and says so
};

struct Later {
  bool operator()(const Open& a, const Open& b) const { return b.score < a.score; }
};

class PlanSearch {
 public:
  PlanSearch(const Space& space, const SearchOptions& options, workload::Machines& machines)
      : space_(space),
        options_(options),
        machines_(machines),
        screening_(space, options.objective, !options.exhaustive, options.most_memory, machines) {}

  SearchAnswer run() {
    for (const schedules::Problem& problem : objective_problems(options_.objective, space_.start))
      throw InputError(problem.key, problem.text);
    outline();
    go_through();
    const bool is_cut_short = answer_.left > 0 || answer_.unscreened > 0;
    answer_.stopped = is_stopped() && is_cut_short;
    if (!start_is_simulated_) simulate_start();
    if (answer_.own && is_cut_short && why_unwanted(space_.start).empty()) keep_start(*answer_.own);
    certify();
    const double all = seconds_since(begin_);
    const auto screened = first_simulated_.value_or(std::chrono::steady_clock::now());
    answer_.screening_seconds = std::chrono::duration<double>(screened - begin_).count();
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
      schedules::Forecast own = schedules::forecast(space_.start, machines_, {.advise = false, .compare = false});
      const schedules::Plan plan = schedules::plan(space_.start, machines_);
      answer_.own_misses = missing_memory(plan, options_.most_memory);
      if (!own.simulated || answer_.own_misses) return;
      answer_.own = FoundPlan{{}, space_.start, std::move(own), {}, peak_memory(plan)};
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
    const Score of_start = score_of(options_.objective, own.scenario, own.forecast, own.memory, kLast);
    if (!best_.empty() && best_.front().score.first <= of_start.first) return;  // it may be found already
    keep(std::move(own), kLast);
    ++answer_.simulated;
    if (answer_.left > 0) --answer_.left;
  }

  void fail(const std::string& why) {
    ++answer_.failed;
    if (answer_.failure.empty()) answer_.failure = why;
  }

  /// Goes through all layouts, and makes those wait that have plans.
  void outline() {
    outlines_.resize(screening_.layouts());
    std::atomic<std::size_t> unscreened{0};
    calibrate::in_parallel(outlines_.size(), [&](std::size_t i) {
      if (is_stopped()) {
        ++unscreened;
        return;
      }
      outlines_[i] = screening_.outlined(i);
    });
    answer_.unscreened = unscreened;
    std::string problem;
    for (std::size_t i = 0; i < outlines_.size(); ++i) {
      Outline& layout = outlines_[i];
      if (problem.empty()) problem = std::move(layout.problem);
      if (layout.plans == 0) continue;
      all_plans_ += layout.plans;
      Open& open = waiting_layouts_.emplace_back();
      open.known = options_.exhaustive ? Known::layers : Known::kernels;
      open.bound = {layout.bound, layout.bound};
      open.layout = static_cast<std::uint32_t>(i);
      open.score =
          least_score_of(options_.objective, screening_.scenario_of(i), open.bound, {}, Screening::place_of(i, 0));
    }
    if (all_plans_ == 0 && answer_.unscreened == 0)
      throw InputError("search", problem.empty()
                                     ? "no sizes divide the GPUs and the global batch; expected other values of --over"
                                     : "no plan can run; the first: " + problem);
  }

  /// Whether the plan cannot be among the best, nor on the front.
  bool is_beaten(const Open& open) const {
    if (options_.exhaustive) return false;
    if (options_.within && open.bound.time >= *options_.within) return true;
    if (best_.size() < options_.top || open.score < best_.back().score) return false;
    return !options_.front || std::ranges::any_of(front_, [&](const OnFront& other) {
      return beats(other, open.bound.time, open.memory, open.score.place);
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
    const std::uint64_t plans = outlines_[open.layout].plans;
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
        layouts[i] = screening_.screened(open.layout);
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
      for (const FittingPlan& plan : layouts[i]->fitting)
        waiting.push({.score = plan.score,
                      .bound = plan.bound,
                      .memory = plan.memory,
                      .layout = taken[i].layout,
                      .others = plan.others,
                      .known = options_.exhaustive ? Known::all : Known::passes});
    }
  }

  void bound_layers(Open& layout) const {
    layout.bound.time = screening_.bound_of_layers(layout.layout, outlines_[layout.layout]);
    layout.score =
        least_score_of(options_.objective, screening_.scenario_of(layout.layout), layout.bound, {}, layout.score.place);
    layout.known = Known::layers;
  }

  void refine(Open& open) const {
    const Settings settings = screening_.settings_of(open.layout, open.others);
    const Known known = std::exchange(open.known, Known::all);
    try {
      const Scenario plan = plan_of(space_, settings, machines_);
      open.wanted = open.wanted || why_unwanted(plan).empty();
      if (!open.wanted) return;  // simulate() says so
      const schedules::Plan made = schedules::plan(plan, machines_);
      StepBound bound(machines_.of(machine_of(plan)));
      std::optional<Time> least;
      if (known == Known::passes) least = bound.with_least_traffic(plan, made);
      open.bound.time = std::max(open.bound.time, least ? *least : bound.with_traffic(plan, made));
      open.score = least_score_of(options_.objective, plan, open.bound, open.memory, open.score.place);
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
      const Settings settings = screening_.settings_of(taken[i].layout, taken[i].others);
      left[i] = is_stopped();
      if (left[i] != 0) return;
      try {
        Scenario plan = plan_of(space_, settings, machines_);
        if (!taken[i].wanted) unwanted[i] = why_unwanted(plan);
        if (!unwanted[i].empty()) return;
        schedules::Forecast forecast = schedules::forecast(plan, machines_, {.advise = false, .compare = false});
        found[i] = {settings, std::move(plan), std::move(forecast), taken[i].bound.time, taken[i].memory};
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
        fail(failures[i]);
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
    const Score own = score_of(options_.objective, found.scenario, found.forecast, found.memory, place);
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

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const Space& space_;
  const SearchOptions& options_;
  workload::Machines& machines_;
  Screening screening_;
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
