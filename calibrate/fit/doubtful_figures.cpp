#include "calibrate/fit/doubtful_figures.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/in_parallel.h"
#include "schedules/forecast.h"
#include "workload/machines.h"

namespace stepcast::calibrate {
namespace {

using schedules::Forecast;
using schedules::Scenario;

/// Of a convolution Winograd's F(4x4, 3x3) makes a quarter of the multiplies that are counted (Lavin and Gray, 2015).
constexpr double kMostSavedOfConvolutions = 4;
/// Steps below this share of the peak, and below this share of the forecast speed, are doubtful. Small models wait for
/// their host, and then the forecast is slow too.
constexpr double kLeastOfPeak = 1e-3, kLeastOfForecast = 0.1;
/// Data sheets and drivers count a GPU's memory a little differently.
constexpr double kMemoryLeeway = 1.05;
/// Plans are not known that well that less than this share of their state is surely wrong.
constexpr double kLeastOfState = 0.5;
/// How far from their number of GPUs runs may be, as a factor, and from how many GPUs on that tells something.
constexpr double kAboutAsManyTimes = 1.5;
constexpr std::uint32_t kManyGpus = 8;

double bytes_of_gpu(const Scenario& s) {
  const Bytes other = s.cluster.other ? s.cluster.other->gpu.memory : Bytes{};
  return static_cast<double>(std::max(s.cluster.gpu.memory, other).value);
}

/// Of the stage that has least.
double bytes_of_state(const Forecast& forecast) {
  std::optional<Bytes> least;
  for (const schedules::StageReport& stage : forecast.stages) {
    const Bytes state = stage.memory.parameters + stage.memory.optimizer;
    least = least ? std::min(*least, state) : state;
  }
  return least ? static_cast<double>(least->value) : 0;
}

std::optional<DoubtfulFigure> doubt_of_time(std::size_t run, const Scenario& s, const Forecast& forecast) {
  if (!s.measured.step_time || !forecast.simulated) return std::nullopt;
  const double measured = to_seconds(*s.measured.step_time), predicted = to_seconds(forecast.step);
  const double at_peak = predicted * forecast.mfu * (1 - forecast.skipped_flops);
  const double saved = schedules::is_network(s.model.family) ? kMostSavedOfConvolutions : 1;
  if (measured * saved < at_peak) return DoubtfulFigure{run, Doubt::faster_than_peak, measured, at_peak / saved};
  if (at_peak < kLeastOfPeak * measured && predicted < kLeastOfForecast * measured)
    return DoubtfulFigure{run, Doubt::far_slower, measured, predicted};
  return std::nullopt;
}

std::optional<DoubtfulFigure> doubt_of_memory(std::size_t run, const Scenario& s, const Forecast& forecast) {
  if (!s.measured.peak_memory) return std::nullopt;
  const double measured = static_cast<double>(s.measured.peak_memory->value);
  if (const double has = bytes_of_gpu(s); measured > kMemoryLeeway * has)
    return DoubtfulFigure{run, Doubt::beyond_gpu_memory, measured, has};
  if (const double state = bytes_of_state(forecast); measured < kLeastOfState * state)
    return DoubtfulFigure{run, Doubt::below_state, measured, state};
  return std::nullopt;
}

/// Whether a step took about as many times the forecast as the run has GPUs.
bool times_its_gpus(const Scenario& s, const Forecast& forecast) {
  if (!forecast.simulated || s.cluster.gpus < kManyGpus) return false;
  const double times = to_seconds(*s.measured.step_time) / to_seconds(forecast.step);
  return std::abs(std::log(times / s.cluster.gpus)) < std::log(kAboutAsManyTimes);
}

}  // namespace

std::vector<DoubtfulFigure> doubtful_figures(std::span<const Scenario> runs) {
  std::vector<Forecast> forecasts(runs.size());
  workload::Machines machines;
  in_parallel(runs.size(), [&](std::size_t i) {
    forecasts[i] = schedules::forecast(runs[i], machines, {.advise = false, .compare = false});
  });
  std::size_t timed = 0, per_gpu = 0;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].measured.step_time) {
      ++timed;
      if (times_its_gpus(runs[i], forecasts[i])) ++per_gpu;
    }
  std::vector<DoubtfulFigure> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (per_gpu == timed && timed > 1 && runs[i].measured.step_time)
      out.push_back({i, Doubt::per_gpu, to_seconds(*runs[i].measured.step_time), to_seconds(forecasts[i].step)});
    else if (const auto time = doubt_of_time(i, runs[i], forecasts[i]))
      out.push_back(*time);
    if (const auto memory = doubt_of_memory(i, runs[i], forecasts[i])) out.push_back(*memory);
  }
  return out;
}

}  // namespace stepcast::calibrate
