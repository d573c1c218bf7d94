// Many plans of one model on one cluster, as a search or a sweep asks for them: how many a second are planned (does it
// fit?), and how many that fit are simulated, on one core.

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "app/freed_memory.h"
#include "calibrate/in_parallel.h"
#include "language/questions.h"
#include "language/variants.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "search/search.h"

namespace stepcast {
namespace {

using schedules::Scenario;

struct Space {
  const char *model, *node;
  std::uint32_t nodes;
  std::int64_t sequence;
};
constexpr Space kSpaces[] = {
    {"gpt3-175b", "dgx-h100", 64, 2048},
    {"llama2-70b", "dgx-h100", 8, 4096},
    {"megatron-22b", "dgx-a100-80gb", 8, 2048},
    {"llama3-8b", "dgx-h100", 1, 4096},
};

/// One plan that can run, of which random ones are made by changing it.
Scenario any_plan(const Space& space) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const std::vector<std::string> settings{"model=" + std::string(space.model),
                                          "cluster.node=" + std::string(space.node),
                                          "cluster.nodes=" + std::to_string(space.nodes),
                                          "training.sequence=" + std::to_string(space.sequence),
                                          "parallelism.tensor=8",
                                          "parallelism.pipeline=1",
                                          "parallelism.data=" + std::to_string(space.nodes),
                                          "pipeline.schedule=1f1b",
                                          "pipeline.virtual_stages=1",
                                          "training.micro_batch=1",
                                          "training.global_batch=1024"};
  return language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml"}, settings,
                                  library)
      .front()
      .scenario;
}

std::vector<Scenario> random_plans(const Space& space, std::size_t count) {
  std::mt19937 random(1);
  const auto pick = [&](std::initializer_list<std::uint32_t> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
  };
  const Scenario base = any_plan(space);
  std::vector<Scenario> plans;
  while (plans.size() < count) {
    Scenario s = base;
    s.parallelism.tensor = pick({1, 2, 4, 8});
    s.parallelism.pipeline = pick({1, 2, 4, 8, 16, 32});
    const std::uint32_t stage = s.parallelism.tensor * s.parallelism.pipeline;
    if (s.cluster.gpus % stage != 0) continue;
    s.parallelism.data = s.cluster.gpus / stage;
    s.parallelism.sequence = s.parallelism.tensor > 1 && pick({0, 1}) == 1;
    s.training.micro_batch = pick({1, 2, 4, 8});
    s.training.global_batch = pick({512, 1024, 1536});
    s.pipeline.virtual_stages = pick({1, 1, 2, 4});
    s.pipeline.schedule = s.pipeline.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
    s.data_parallel.zero = static_cast<int>(pick({0, 1, 2, 3}));
    s.recompute = static_cast<schedules::Recompute>(pick({0, 1, 2}));
    if (schedules::check(s).empty()) plans.push_back(std::move(s));
  }
  return plans;
}

void planned(benchmark::State& state) {
  const Space& space = kSpaces[state.range(0)];
  const std::vector<Scenario> plans = random_plans(space, 500);
  workload::Machines machines;
  for (auto _ : state)
    for (const Scenario& s : plans) benchmark::DoNotOptimize(schedules::plan(s, machines).out_of_memory);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(plans.size()));
  state.SetLabel(space.model);
}
BENCHMARK(planned)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

/// What a sweep does before a point is planned: its keys are laid over the scenario, which is read and checked.
void varied(benchmark::State& state) {
  language::Variants base(STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml", {}, {},
                          language::Library(STEPCAST_SOURCE_DIR "/configs"));
  std::size_t number = 0;
  for (auto _ : state) {
    const std::string tensor = std::to_string(1U << number++ % 4);
    benchmark::DoNotOptimize(base.with({{"parallelism.tensor", tensor, {"--set", 0, 0}},
                                        {"parallelism.data", "", {"--set", 0, 0}},
                                        {"recompute", "full", {"--set", 0, 0}}}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(varied)->Unit(benchmark::kMicrosecond);

void simulated(benchmark::State& state) {
  app::keep_freed_memory();  // as sweeps and searches do
  const Space& space = kSpaces[state.range(0)];
  std::vector<Scenario> plans = random_plans(space, 500);
  workload::Machines machines;
  std::erase_if(plans, [&](const Scenario& s) { return schedules::plan(s, machines).out_of_memory.has_value(); });
  for (auto _ : state)
    for (const Scenario& s : plans) benchmark::DoNotOptimize(schedules::forecast(s, machines).step);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(plans.size()));
  state.SetLabel(space.model);
}
BENCHMARK(simulated)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

/// A search of all that sizes, micro-batches, schedules, recomputation and ZeRO give, on one core: plans screened and
/// bounded, with one simulation.
void screened(benchmark::State& state) {
  const Space& space = kSpaces[state.range(0)];
  const search::Space all = search::usual_space(any_plan(space));
  search::SearchOptions options;
  options.budget = 1;
  const calibrate::MostThreads one(1);
  std::uint64_t plans = 0;
  for (auto _ : state) {
    workload::Machines machines;
    plans += search::search(all, options, machines).screened;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(plans));
  state.SetLabel(space.model);
}
BENCHMARK(screened)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast
