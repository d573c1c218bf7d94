#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::calibrate {

/// Why a measured figure is hard to believe. Most often it is in another unit than its table says.
enum class Doubt : std::uint8_t {
  faster_than_peak,   ///< impossible: the step's multiplies take longer at the peak of the training's precision
  beyond_gpu_memory,  ///< impossible: no GPU of the cluster has so much memory
  far_slower,         ///< less than a thousandth of the peak, in a tenth of the speed that is forecast at most
  below_state,        ///< less than half of what parameters and optimizer state of the stage that has least take
  per_gpu,            ///< as many times the forecast as there are GPUs, as all runs of the table are
};

struct DoubtfulFigure {
  std::size_t run;  ///< its place among the runs
  Doubt doubt;
  double measured, beside;  ///< seconds or bytes, and those that it is set beside
};

inline bool is_impossible(Doubt doubt) { return doubt == Doubt::faster_than_peak || doubt == Doubt::beyond_gpu_memory; }

/// What is doubtful of the runs' step times and peak memory, in the order of the runs. Forecasts each run once.
std::vector<DoubtfulFigure> doubtful_figures(std::span<const schedules::Scenario> runs);

}  // namespace stepcast::calibrate
