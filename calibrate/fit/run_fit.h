#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/fitted_model.h"
#include "collectives/transport.h"
#include "scenario/scenario.h"
#include "sim/units.h"

namespace stepcast::calibrate {

/// A measured step beside the forecast of it.
struct FittedRun {
  std::string name;
  std::optional<double> measured_s, predicted_s;
  std::optional<double> held_out_s{};  ///< forecast with what was fitted to other runs
  std::optional<double> measured_bytes{}, predicted_bytes{}, held_out_bytes{};
};

/// What measured steps tell of a software stack and the site that it runs on.
struct RunFit {
  std::vector<ProfileConstant> constants;                   ///< keys below `software`, fitted or not told
  std::vector<collectives::ShareOverNodes> network_shares;  ///< as fitted; none: not told
  std::vector<FittedRun> runs;                              ///< those that were fitted to, in their order
};

/// Fits the few constants that belong to a stack and a site, not to a machine's data sheets, to runs with a measured
/// step or peak memory: what kernels reach of their rates in a running step, what the host costs, what the network
/// gives groups over many nodes and how long sends between stages wait on them, what activations take besides what
/// backward needs, and the memory that nothing here counts. Robust (calibrate/fit/robust_fit.h): a run that was held up
/// far beyond its forecast pulls little. A constant that the runs cannot tell stays as the stack has it: all of
/// them where all runs are of one plan, measured again and again (of a step's time: and without a trace). `network`:
/// shares that were measured (none: not); the runs then scale them alone. `traced_compute`: of each run what kernels
/// took of its step, where a trace tells (empty: of none), at most the step. Such a run counts as two samples: its
/// compute, and all else of its step, so that what it waits for is not taken for slow kernels. Traffic and waiting are
/// not fitted apart, because in a trace a collective runs while it waits for other ranks. All runs must be of one
/// stack. `profiled`: keys below `software` that the runs' profile has, which stay as it has them. Forecasts all runs
/// some hundred times.
RunFit fit_runs(std::span<const schedules::Scenario> runs, std::span<const collectives::ShareOverNodes> network,
                std::span<const std::optional<Time>> traced_compute = {}, std::span<const std::string> profiled = {});

/// The scenario under what was fitted.
schedules::Scenario with(const RunFit& fit, schedules::Scenario scenario);

}  // namespace stepcast::calibrate
