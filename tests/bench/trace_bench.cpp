// The trace of a step for ui.perfetto.dev: a million spans, half as many arrows and points.

#include <benchmark/benchmark.h>

#include "app/report/json.h"

namespace stepcast::app {
namespace {

void write_trace(benchmark::State& state) {
  schedules::Forecast forecast;
  forecast.streams = {"compute", "pipeline", "data", "parameters"};
  forecast.stages.resize(64);
  const auto spans = static_cast<std::uint32_t>(state.range(0));
  for (std::uint32_t i = 0; i < spans; ++i) {
    const std::uint32_t stage = i % 64;
    const Time at = nanoseconds(i);
    forecast.spans.push_back({stage, i % 4, "forward " + std::to_string(i) + ".0", at, nanoseconds(1)});
    if (i % 4 == 1) forecast.arrows.push_back({stage, 1, at, stage, at});
    if (i % 4 == 2) forecast.link_use.push_back({stage, at, 0.5});
  }
  for (auto _ : state) benchmark::DoNotOptimize(trace_json(forecast));
  state.SetItemsProcessed(state.iterations() * (spans + spans / 4 * 2 + spans / 4));
}
BENCHMARK(write_trace)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast::app
