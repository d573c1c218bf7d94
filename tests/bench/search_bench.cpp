#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "app/freed_memory.h"
#include "calibrate/in_parallel.h"
#include "language/questions.h"
#include "schedules/pipeline/pipelines.h"
#include "search/search.h"
#include "tests/bench/peak_memory.h"

namespace stepcast {
namespace {

using Values = std::vector<std::int64_t>;

/// The usual space of a scenario, but for the axes that `over` names.
search::Space space_of(const std::string& file, const std::vector<std::string>& settings,
                       const std::vector<std::pair<std::string, Values>>& over = {}) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  search::Space space = search::usual_space(
      language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/" + file}, settings, library)
          .front()
          .scenario);
  for (const auto& [axis, values] : over) space.values[search::axis_named("", axis)] = values;
  return space;
}

search::Space gpt3_175b_on_512_gpus(const std::vector<std::pair<std::string, Values>>& over = {}) {
  return space_of("gpt3-175b-1024-a100.yaml", {"cluster.gpus=512", "parallelism.data=8"}, over);
}

search::Space llama_8b_on_8_gpus(const std::vector<std::pair<std::string, Values>>& over = {}) {
  return space_of(
      "quickstart.yaml",
      {"model=llama3-8b", "cluster.gpus=8", "training.global_batch=128", "parallelism.tensor=2",
       "parallelism.pipeline=2", "parallelism.data=2", "pipeline.virtual_stages=1", "pipeline.schedule=1f1b"},
      over);
}

/// On one core, for the best plan alone. `plans`: screened and bounded a second; `peak_MB`: what the process's memory
/// grows by at its peak.
void screening(benchmark::State& state, const search::Space& space) {
  const calibrate::MostThreads one(1);
  const test::PeakMemory memory;
  double screened = 0;
  for (auto _ : state) {
    workload::Machines machines;
    const search::SearchAnswer answer = search::search(space, {.top = 1}, machines);
    state.SetIterationTime(answer.screening_seconds);
    screened += static_cast<double>(answer.screened);
  }
  state.counters["plans"] = benchmark::Counter(screened, benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = static_cast<double>(memory.bytes()) / 1e6;
}

/// On one core, every plan that fits. `plans`: simulated a second.
void simulating(benchmark::State& state, const search::Space& space) {
  app::keep_freed_memory();  // as the command does
  const calibrate::MostThreads one(1);
  double simulated = 0;
  for (auto _ : state) {
    workload::Machines machines;
    const search::SearchAnswer answer = search::search(space, {.top = 1, .exhaustive = true}, machines);
    state.SetIterationTime(answer.simulating_seconds);
    simulated += static_cast<double>(answer.simulated);
  }
  state.counters["plans"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
}

void screening_175b_on_512(benchmark::State& state) { screening(state, gpt3_175b_on_512_gpus()); }
BENCHMARK(screening_175b_on_512)->UseManualTime()->Unit(benchmark::kMillisecond);

void screening_8b_on_8(benchmark::State& state) { screening(state, llama_8b_on_8_gpus()); }
BENCHMARK(screening_8b_on_8)->UseManualTime()->Unit(benchmark::kMillisecond);

/// The plans with 4 or 8 tensor ranks.
void simulating_175b_on_512(benchmark::State& state) {
  simulating(state, gpt3_175b_on_512_gpus({{"parallelism.tensor", {4, 8}},
                                           {"parallelism.pipeline", {4, 8, 16}},
                                           {"parallelism.context", {1}},
                                           {"parallelism.sequence", {0}},
                                           {"recompute", {2}}}));
}
BENCHMARK(simulating_175b_on_512)->UseManualTime()->Unit(benchmark::kMillisecond);

void simulating_8b_on_8(benchmark::State& state) {
  simulating(state, llama_8b_on_8_gpus({{"parallelism.context", {1}}, {"parallelism.sequence", {0}}}));
}
BENCHMARK(simulating_8b_on_8)->UseManualTime()->Unit(benchmark::kMillisecond);

/// A search of more than a million plans, on all cores: the whole of it, to the best plan.
void million_plans(benchmark::State& state) {
  Values micro_batches, virtual_stages, every_schedule;
  for (std::int64_t n = 1; n <= 512; ++n) micro_batches.push_back(n);
  for (std::int64_t n = 1; n <= 96; ++n) virtual_stages.push_back(n);
  for (std::size_t i = 0; i < schedules::pipelines().size(); ++i)
    every_schedule.push_back(static_cast<std::int64_t>(i));
  const search::Space space = gpt3_175b_on_512_gpus({{"training.micro_batch", micro_batches},
                                                     {"pipeline.virtual_stages", virtual_stages},
                                                     {"pipeline.schedule", every_schedule}});
  const test::PeakMemory memory;
  for (auto _ : state) {
    workload::Machines machines;
    const search::SearchAnswer answer = search::search(space, {.top = 1}, machines);
    state.counters["screened"] = static_cast<double>(answer.screened);
  }
  state.counters["peak_MB"] = static_cast<double>(memory.bytes()) / 1e6;
}
BENCHMARK(million_plans)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace stepcast
