#pragma once

#include <cstdint>

#include "scenario/scenario.h"
#include "schedules/results/results.h"
#include "workload/machines.h"

namespace stepcast::schedules {

/// What is simulated. Of everything else the answer is how much memory it takes, and whether that fits.
enum class Simulate : std::uint8_t {
  all,
  what_may_fit,  ///< what needs no more than kSurelyTooMuch of the memory that there is
  nothing
};
/// A forecast of memory is some hundredths off where it was compared (docs/accuracy.md), and more on other stacks.
inline constexpr double kSurelyTooMuch = 1.25;

/// Where groups that do the same take unlike time, because their ways through the fabric collide unlike, every rank of
/// so few GPUs has a lane. Of more all take the time of the slowest, and the step is told with that of the fastest as
/// well.
inline constexpr std::uint32_t kMostUnfoldedGpus = 128;

struct ForecastOptions {
  bool unfold = false;       ///< simulate every rank instead of one per equivalence class
  bool transfers = false;    ///< unfold, and lower all traffic to its transfers: nothing is assumed of what meets what
  bool trace = false;        ///< fill spans, passes and memory
  bool step_detail = false;  ///< fill all that a report draws; what it is asked for with: trace
  bool critical_path = false;  ///< fill it; a long pipeline is then simulated whole
  bool time_details = false;   ///< fill the details of each stage's time
  bool record = false;         ///< unfold, and fill what was simulated
  bool advise = true;          ///< where the plan does not fit, try what would
  bool compare = true;         ///< also the step without the imperfections that the scenario has
  Simulate simulate = Simulate::all;
  const workload::WatchLowered* watch = nullptr;  ///< of steps that are simulated transfer by transfer; none: nobody
};

/// Runs one step. Requires check(scenario) to be empty. Throws InputError where the cluster cannot carry the plan.
/// `machines`: shared by forecasts that run on the same machines, from any thread; the answer is the same with new
/// ones.
Forecast forecast(const Scenario& scenario, workload::Machines& machines, const ForecastOptions& options = {});
Forecast forecast(const Scenario& scenario, const ForecastOptions& options = {});

}  // namespace stepcast::schedules
