#include "app/doubtful_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/fit/doubtful_figures.h"
#include "language/core/visible_text.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using calibrate::Doubt;
using calibrate::DoubtfulFigure;

std::string seconds(double value) { return fmt::format("{:.4g} s", value); }
std::string bytes(double value) { return text(Bytes{static_cast<std::int64_t>(value)}); }

/// What is wrong with the first of `count` figures of one kind.
std::string impossible(const DoubtfulFigure& first, std::size_t count, const schedules::Scenario& run) {
  const std::string more = count > 1 ? fmt::format(" ({} runs of the table are as impossible)", count) : std::string();
  if (first.doubt == Doubt::beyond_gpu_memory)
    return "measured.peak_memory: found " + bytes(first.measured) + ", expected at most the " + bytes(first.beside) +
           " that a GPU of the cluster has; is it in another unit?" + more;
  return fmt::format(
      "measured.step_time: found {}, expected at least the {} that its multiplies take at the peak of {}; is it in "
      "another unit?{}",
      seconds(first.measured), seconds(first.beside), name(run.training.precision), more);
}

/// `of`: "3 of 12 runs"; `run`: the first of them.
std::string doubtful(const DoubtfulFigure& first, const std::string& of, const std::string& run, std::uint32_t gpus) {
  const std::string measured = seconds(first.measured), beside = seconds(first.beside);
  switch (first.doubt) {
    case Doubt::far_slower:
      return fmt::format(
          "measured.step_time: {} reach less than 0.1 % of their GPUs' peak; the first, {}, took {} where {} are "
          "forecast: is it in another unit, or was the run held up?",
          of, run, measured, beside);
    case Doubt::per_gpu:
      return fmt::format(
          "measured.step_time: {} took about as many times what is forecast as they have GPUs; the first, {}, {} where "
          "{} are forecast on {} GPUs: are they made of the tokens of one GPU?",
          of, run, measured, beside, gpus);
    default:
      return fmt::format(
          "measured.peak_memory: {} used less than half of what parameters and optimizer take; the first, {}, {} of "
          "{}: is it in another unit?",
          of, run, bytes(first.measured), bytes(first.beside));
  }
}

}  // namespace

void tell_doubts(std::span<const language::Question> runs) {
  std::vector<schedules::Scenario> scenarios;
  for (const language::Question& run : runs) scenarios.push_back(run.scenario);
  const std::vector<DoubtfulFigure> figures = calibrate::doubtful_figures(scenarios);
  for (const Doubt doubt :
       {Doubt::faster_than_peak, Doubt::beyond_gpu_memory, Doubt::far_slower, Doubt::below_state, Doubt::per_gpu}) {
    const auto first = std::ranges::find(figures, doubt, &DoubtfulFigure::doubt);
    if (first == figures.end()) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count(figures, doubt, &DoubtfulFigure::doubt));
    const language::Question& run = runs[first->run];
    if (calibrate::is_impossible(doubt)) throw InputError(run.origin, impossible(*first, count, run.scenario));
    std::fprintf(stderr, "%s\n",
                 doubtful(*first, fmt::format("{} of {} runs", count, runs.size()), language::visible(run.name),
                          run.scenario.cluster.gpus)
                     .c_str());
  }
}

}  // namespace stepcast::app
