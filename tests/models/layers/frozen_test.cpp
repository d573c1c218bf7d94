#include "models/layers/frozen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/model_blocks.h"
#include "scenario/model.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario frozen(std::uint32_t gpus, std::int64_t layers) {
  Scenario s = round_numbers(gpus);
  s.training.frozen_layers = layers;
  return s;
}

TEST(FrozenLayers, HaveNoBackwardPass) {
  const Forecast one = forecast(frozen(1, 1)), nine = forecast(frozen(1, 9));
  EXPECT_EQ(one.stages[0].time.compute - nine.stages[0].time.compute, *one.layer_backward * (8 * 64));
  EXPECT_EQ(one.layer_backward, forecast(frozen(1, 0)).layer_backward);
}

TEST(FrozenLayers, HaveNoGradientNoOptimizerStateAndSaveNothing) {
  const MemoryUse none = forecast(frozen(1, 0)).stages[0].memory, some = forecast(frozen(1, 6)).stages[0].memory;
  const Scenario s = round_numbers(1);
  const double positions = 1024.0 * 2048,
               layers = 6 * blocks(s).at(1).parameters;  // the tied matrix is still trained
  EXPECT_EQ(some.parameters, none.parameters);
  EXPECT_EQ(static_cast<double>((none.gradients - some.gradients).value), 4 * (positions + layers));
  EXPECT_EQ(static_cast<double>((none.optimizer - some.optimizer).value), 12 * (positions + layers));
  Blocks model = blocks(s);
  const double saved = model.at(0).saved + 6 * model.at(1).saved;
  EXPECT_EQ(static_cast<double>((none.activations - some.activations).value), saved);
}

TEST(FrozenLayers, DoTheModelFlopsOfTheirForwardPassAlone) {
  Scenario s = frozen(1, 0);
  Blocks model = blocks(s);
  const double all = model_flops(model).value;
  s.training.frozen_layers = 4;
  freeze(model, s.training);
  s.training.frozen_layers = 0;
  s.model.layers = 4;
  const double four = model_flops(blocks(s)).value;
  s.model.layers = 8;
  EXPECT_DOUBLE_EQ(model_flops(model).value, all - 2.0 / 3 * (model_flops(blocks(s)).value - four));
}

TEST(FrozenLayers, AStageOfThemIsSentNoGradients) {
  const auto gradients_sent = [](std::int64_t layers) {
    Scenario s = frozen(4, layers);
    s.parallelism.pipeline = 4;
    const Forecast f = forecast(s, {.unfold = false, .trace = true});
    std::vector<std::int64_t> of_stage;
    for (std::uint32_t stage = 0; stage < 4; ++stage)
      of_stage.push_back(std::ranges::count_if(f.spans, [&](const Span& span) {
        return span.stage == stage && span.stream == 1 && span.name.starts_with("gradient");
      }));
    return of_stage;
  };
  EXPECT_EQ(gradients_sent(0), (std::vector<std::int64_t>{0, 64, 64, 64}));
  EXPECT_EQ(gradients_sent(7), (std::vector<std::int64_t>{0, 0, 64, 64}));  // stage 1 trains its last layer
  EXPECT_EQ(gradients_sent(8), (std::vector<std::int64_t>{0, 0, 0, 64}));
}

TEST(FrozenLayers, SendFewerBytesBetweenDataRanks) {
  for (const int zero : {0, 1, 2, 3}) {
    Scenario s = frozen(8, 0);
    s.parallelism.data = 8;
    s.data_parallel.zero = zero;
    const Time all = forecast(s).step;
    s.training.frozen_layers = 15;
    EXPECT_LT(forecast(s).step, all) << "zero " << zero;
  }
}

TEST(FrozenLayers, LeaveSomethingToTrain) {
  const std::vector<Problem> problems = check(frozen(1, 16));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].key, "training.frozen_layers");
}

}  // namespace
}  // namespace stepcast::schedules
