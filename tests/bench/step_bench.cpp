#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

schedules::Scenario scenario(const std::string& file, const std::vector<std::string>& settings = {}) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  return language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/" + file}, settings, library)
      .front()
      .scenario;
}

void forecast_of(benchmark::State& state, const schedules::Scenario& s) {
  for (auto _ : state) benchmark::DoNotOptimize(schedules::forecast(s).step);
}

/// 1T parameters, 3072 GPUs, 131,072 passes.
void gpt_1t(benchmark::State& state) { forecast_of(state, scenario("gpt-1t-3072.yaml")); }
BENCHMARK(gpt_1t)->Unit(benchmark::kMillisecond);

/// One step on 100,000 GPUs, folded.
void hundred_thousand_gpus(benchmark::State& state) { forecast_of(state, scenario("gpt3-175b-100000-gpus.yaml")); }
BENCHMARK(hundred_thousand_gpus)->Unit(benchmark::kMillisecond);

void quickstart(benchmark::State& state) { forecast_of(state, scenario("quickstart.yaml")); }
BENCHMARK(quickstart)->Unit(benchmark::kMillisecond);

void zero_3(benchmark::State& state) { forecast_of(state, scenario("llama2-7b-zero3.yaml")); }
BENCHMARK(zero_3)->Unit(benchmark::kMillisecond);

/// All rows of both published tables, one after the other.
void published(benchmark::State& state) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto rows =
      language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/published"}, {}, library);
  for (auto _ : state)
    for (const language::Question& row : rows) benchmark::DoNotOptimize(schedules::forecast(row.scenario).step);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}
BENCHMARK(published)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast
