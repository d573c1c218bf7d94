#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedules/forecast.h"
#include "search/objective.h"
#include "search/refused.h"
#include "search/space.h"
#include "workload/machines.h"

namespace stepcast::search {

/// How far a search is.
struct SearchState {
  std::size_t done = 0, all = 0;
  bool simulating = false;     ///< then of so many plans, else of so many layouts, of which some need no screening
  std::optional<Time> best{};  ///< the step of the best plan so far
};

struct SearchOptions {
  Objective objective = Objective::step_time;
  std::size_t top = 10;
  bool exhaustive = false;                ///< simulate every plan that fits
  bool front = false;                     ///< also find every plan that none beats in both step time and memory
  std::optional<std::uint64_t> budget{};  ///< at most so many plans are simulated
  std::optional<Time> within{};           ///< only plans whose step takes less are among the best and on the front
  std::optional<Bytes> most_memory{};     ///< a plan whose fullest GPU holds more does not fit, whatever the GPU has
  /// Says of a plan that can run why it is not wanted: a framework that cannot be told it, say. Empty: it is wanted.
  /// Asked from any thread, of plans that may be among the best. Not set: all are.
  std::function<std::string(const schedules::Scenario&)> unwanted{};
  std::function<void(const SearchState&)> watch{};  ///< told now and then, from any thread
  /// Asked now and then, from any thread, whether to stop: then what was found is the answer, as where a budget is
  /// spent.
  std::function<bool()> stopped{};
};

/// A plan that was simulated.
struct FoundPlan {
  Settings settings{};
  schedules::Scenario scenario;
  schedules::Forecast forecast;
  Time bound{};    ///< its step was known to take at least so long before it was simulated
  Bytes memory{};  ///< of the fullest GPU
};

/// A plan on the front.
struct FrontPlan {
  Settings settings{};
  Time step{};
  Bytes memory{};
};

struct SearchAnswer {
  std::vector<FoundPlan> best;   ///< the best first
  std::vector<FrontPlan> front;  ///< the fastest first
  /// The plan that the space starts from, which need not be of the space (then its settings say nothing). None: it does
  /// not fit, or cannot run.
  std::optional<FoundPlan> own{};
  std::optional<Bytes> own_misses{};  ///< so much of a GPU's memory or a node's, where it does not fit
  /// Plans that the checks accept. The counters below, `unwanted` among them, say what became of them.
  std::uint64_t screened = 0;
  std::uint64_t refused = 0;  ///< plans that do not fit into memory
  /// Plans whose bound keeps them from the answer, their own or that of their whole layout. Of the second nobody asks
  /// whether they fit, nor whether a balanced cut of the layers is the given one, which counts once elsewhere.
  std::uint64_t bounded = 0;
  std::uint64_t simulated = 0;
  std::uint64_t failed = 0;  ///< plans that the cluster cannot carry after all
  std::uint64_t left = 0;    ///< plans that were left when the budget was spent or the search stopped
  std::string failure;       ///< what keeps the first of those that failed from running; empty: none failed
  /// Plans that would have been simulated, but that SearchOptions::unwanted says something of, and what it says of the
  /// first.
  std::uint64_t unwanted = 0;
  std::string why_unwanted;
  std::uint64_t unscreened = 0;    ///< values of the first kSharedAxes whose plans nobody saw before the search stopped
  bool stopped = false;            ///< by SearchOptions::stopped, before its end
  std::uint64_t late = 0;          ///< of the simulated: that take longer than SearchOptions::within
  std::optional<Refused> nearest;  ///< of the refused, the one that misses least
  /// What the best found may miss: its objective over the least that a plan which was left could have, minus 1. 0: none
  /// is better. None: nothing was found, or nothing is known of what was left.
  std::optional<double> gap;
  double screening_seconds = 0, simulating_seconds = 0;

  /// Where nothing was found: whether plans fit, but take longer than SearchOptions::within, by their bound or
  /// simulated.
  bool all_late() const { return best.empty() && (late > 0 || bounded > 0); }
};

/// The best plans of a space. What is answered, but for the seconds, does not depend on the threads. Throws InputError
/// where no plan passes the checks, with what keeps the first from running.
SearchAnswer search(const Space& space, const SearchOptions& options, workload::Machines& machines);

}  // namespace stepcast::search
