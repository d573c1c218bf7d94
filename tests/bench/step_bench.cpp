#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "language/questions.h"
#include "schedules/forecast.h"
#include "tests/bench/peak_memory.h"

namespace stepcast {
namespace {

schedules::Scenario scenario(const std::string& file, const std::vector<std::string>& settings = {}) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  return language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/" + file}, settings, library)
      .front()
      .scenario;
}

/// `peak_MB` is what the process's memory grows by at its peak.
void forecast_of(benchmark::State& state, const schedules::Scenario& s) {
  const test::PeakMemory memory;
  for (auto _ : state) benchmark::DoNotOptimize(schedules::forecast(s).step);
  state.counters["peak_MB"] = static_cast<double>(memory.bytes()) / 1e6;
}

/// 1T parameters, 3072 GPUs, 131,072 passes.
void gpt_1t(benchmark::State& state) { forecast_of(state, scenario("gpt-1t-3072.yaml")); }
BENCHMARK(gpt_1t)->Unit(benchmark::kMillisecond);

/// One step on 100,000 GPUs, folded.
void hundred_thousand_gpus(benchmark::State& state) { forecast_of(state, scenario("gpt3-175b-100000-gpus.yaml")); }
BENCHMARK(hundred_thousand_gpus)->Unit(benchmark::kMillisecond);

/// Llama 3.1 405B on DGX H100, tensor 8 and pipeline 16, with something that makes ranks unlike each other.
schedules::Scenario llama_405b(std::uint32_t gpus, std::vector<std::string> imperfections) {
  std::vector<std::string> settings{
      "model=llama3.1-405b",        "cluster.node=dgx-h100",     "cluster.gpus=" + std::to_string(gpus),
      "training.sequence=8192",     "training.micro_batch=1",    "training.global_batch=" + std::to_string(gpus / 8),
      "parallelism.tensor=8",       "parallelism.pipeline=16",   "parallelism.data=" + std::to_string(gpus / 128),
      "pipeline.schedule=1f1b",     "pipeline.virtual_stages=1", "pipeline.embedding_as_layer=true",
      "pipeline.head_as_layer=true"};
  settings.insert(settings.end(), imperfections.begin(), imperfections.end());
  return scenario("quickstart.yaml", settings);
}

/// Sixteen micro-batches a pipeline. What it takes without the slow GPU is forecast too.
void one_slow_gpu_among_16384(benchmark::State& state) {
  forecast_of(state, llama_405b(16384, {"imperfections.slow_gpu=5000", "imperfections.gpu_speed=0.9"}));
}
BENCHMARK(one_slow_gpu_among_16384)->Unit(benchmark::kMillisecond);

void jitter_on_4096_gpus(benchmark::State& state) {
  forecast_of(state, llama_405b(4096, {"imperfections.jitter=0.03"}));
}
BENCHMARK(jitter_on_4096_gpus)->Unit(benchmark::kMillisecond);

/// A step whose ways are drawn by hash, folded and with every rank by itself, beside four times as many GPUs whose
/// packets take all ways. With every rank by itself ways that collide keep siblings apart, so that traffic inside
/// layers is simulated too.
void routes_by_hash(benchmark::State& state, const char* routing, const char* jitter) {
  forecast_of(state,
              llama_405b(static_cast<std::uint32_t>(state.range(0)), {"cluster.fabric.routing=" + std::string(routing),
                                                                      "imperfections.jitter=" + std::string(jitter)}));
}
BENCHMARK_CAPTURE(routes_by_hash, folded, "hash", "0")->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(routes_by_hash, folded_adaptive, "adaptive", "0")
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(routes_by_hash, jitter, "hash", "0.03")->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(routes_by_hash, jitter_adaptive, "adaptive", "0.03")->Arg(1024)->Unit(benchmark::kMillisecond);

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
