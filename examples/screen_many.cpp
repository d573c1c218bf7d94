// screen_many SCENARIO: tries sizes of tensor and pipeline parallelism and of micro-batches; simulates only what fits,
// and tells the fastest. All share one cluster.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>

#include "stepcast/stepcast.h"

int main(int count, char** words) try {
  if (count != 2) {
    std::fputs("usage: screen_many SCENARIO\n", stderr);
    return 2;
  }
  const stepcast::Scenario loaded = stepcast::load(words[1]);
  stepcast::Machines machines;
  int screened = 0, simulated = 0;
  std::optional<stepcast::Scenario> best;
  stepcast::Time least{};
  for (const std::uint32_t tensor : {1u, 2u, 4u, 8u})
    for (const std::uint32_t pipeline : {1u, 2u, 4u, 8u})
      for (const std::int64_t micro_batch : {1, 2, 4}) {
        stepcast::Scenario scenario = loaded;
        if (scenario.cluster.gpus % (tensor * pipeline) != 0) continue;
        scenario.parallelism.tensor = tensor;
        scenario.parallelism.pipeline = pipeline;
        scenario.parallelism.data = scenario.cluster.gpus / (tensor * pipeline);
        scenario.training.micro_batch = micro_batch;
        if (!stepcast::problems(scenario).empty()) continue;
        ++screened;
        if (stepcast::screen(scenario, machines).out_of_memory) continue;
        ++simulated;
        const stepcast::Time step = stepcast::forecast(scenario, machines).step;
        if (best && step >= least) continue;
        best = scenario;
        least = step;
      }
  std::printf("%d screened, %d fit\n", screened, simulated);
  if (!best) return 3;
  std::printf("fastest: tensor %u, pipeline %u, data %u, micro_batch %lld: %.4g s\n", best->parallelism.tensor,
              best->parallelism.pipeline, best->parallelism.data, static_cast<long long>(best->training.micro_batch),
              stepcast::to_seconds(least));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
