#include "tests/fuzz/scenarios/outcome.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "language/core/yaml.h"
#include "language/scenario.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/results/memory_kinds.h"
#include "schedules/results/time_parts.h"
#include "sim/input_error.h"

namespace stepcast::test {
namespace {

using schedules::Forecast;
using schedules::Scenario;

constexpr const char* kFile = "scenario.yaml";

/// Whether a forecast takes milliseconds: its work grows with these. A step whose ranks are not alike has all of them
/// simulated.
bool is_small(const Scenario& s) {
  const bool alike =
      !s.imperfections.any() && !s.cluster.other && s.data_parallel.mode == schedules::DataParallelMode::all_reduce;
  const std::int64_t chunks = std::int64_t{s.parallelism.pipeline} * s.pipeline.virtual_stages;
  const schedules::Compression& compression = s.data_parallel.compression;
  return s.cluster.gpus <= (alike ? 256u : 32u) && s.model.layers <= 64 && chunks <= 32 &&
         s.training.global_batch <= 4096 && schedules::micro_batches(s) <= 32 && s.data_parallel.local_steps <= 8 &&
         s.data_parallel.staleness.value_or(0) <= 8 && compression.top_k.value_or(0) <= 0.1 &&
         schedules::bucket(s).value >= 1 << 20 && s.software.parameter_prefetch.value >= 1 << 20;
}

void say(bool right, const std::string& what) {
  if (!right) throw std::logic_error(what);
}

void check(const Forecast& forecast) {
  say(forecast.step > Time{}, "a step that takes no time");
  say(std::isfinite(forecast.mfu) && forecast.mfu >= 0, "an MFU that is no share");
  say(!forecast.busiest_link || std::isfinite(forecast.busiest_link->utilisation), "a utilisation that is no share");
  for (const schedules::StageReport& stage : forecast.stages) {
    for (const schedules::TimePart& part : schedules::kTimeParts)
      say(stage.time.*part.time >= Time{},
          fmt::format("stage {}: {} of {} ps", stage.stage, part.title, (stage.time.*part.time).value));
    say(stage.time.sum() == forecast.step, fmt::format("stage {}: parts of {} ps, the step takes {} ps", stage.stage,
                                                       stage.time.sum().value, forecast.step.value));
    for (const schedules::MemoryKind& kind : schedules::kMemoryKinds)
      say(stage.memory.*kind.on_gpu >= Bytes{},
          fmt::format("stage {}: {} B of {}", stage.stage, (stage.memory.*kind.on_gpu).value, kind.words));
    for (const Bytes left : {stage.memory.host.sum(), stage.memory.nvme.sum()})
      say(left >= Bytes{}, fmt::format("stage {}: {} B offloaded", stage.stage, left.value));
  }
}

/// Of an error in words that begin with a place.
bool says_where(std::string_view message) {
  const std::size_t file = message.find(".yaml");
  return file != std::string_view::npos && message.find(':') == file + 5;
}

}  // namespace

Result outcome_of(std::string_view text, language::Library& library, Sizes sizes) {
  Scenario scenario;
  try {
    const language::Node tree =
        library.expand_block(language::parse_yaml(text, kFile), language::scenario_schema(), "");
    scenario = language::read_scenario(tree, library);
    const std::vector<schedules::Problem> problems = schedules::check(scenario);
    for (const schedules::Problem& problem : problems) {
      const std::string place = language::text(language::locate(tree, problem.key));
      say(says_where(place + ':') && !problem.text.empty(), "a problem without a place or words: " + problem.key);
    }
    if (!problems.empty()) return {Outcome::refused, problems.front().key + ": " + problems.front().text};
  } catch (const InputError& error) {
    say(says_where(error.what()), fmt::format("an error without a place: {}", error.what()));
    return {Outcome::refused, error.what()};
  }
  if (sizes == Sizes::small && !is_small(scenario)) return {Outcome::not_asked, {}};
  try {
    const Forecast forecast = schedules::forecast(scenario);
    check(forecast);
    return {forecast.out_of_memory ? Outcome::out_of_memory : Outcome::forecast, {}};
  } catch (const InputError& error) {
    return {Outcome::refused, error.what()};
  } catch (const std::overflow_error& error) {
    return {Outcome::refused, error.what()};
  }
}

}  // namespace stepcast::test
