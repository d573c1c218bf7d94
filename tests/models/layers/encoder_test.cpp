#include "models/layers/encoder.h"

#include <gtest/gtest.h>

#include "models/cost/kernel_time.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario bert(std::uint32_t gpus) {
  Scenario s = round_numbers(gpus);
  s.model.family = Family::bert;
  s.model.positions = 512;
  s.training.sequence = 512;
  return s;
}

const FusedAttention& attention_of(const Kernels& operators) {
  for (const Kernel& op : operators)
    if (const auto* fused = std::get_if<FusedAttention>(&op)) return *fused;
  throw std::logic_error("no attention");
}

TEST(Bert, LooksAtTheWholeSequenceWhereGptSkipsHalf) {
  Scenario s = bert(1);
  s.training.attention = Attention::flash;
  const KernelCost cost{s.cluster.gpu, s.software, s.training.precision};
  const auto time = [&] {
    FusedAttention kernel = attention_of(blocks(s).at(1).backward);
    kernel.query_rows = 0;  // without its uneven end
    return cost.time(kernel);
  };
  const Time full = time();
  s.model.family = Family::gpt;
  EXPECT_EQ(full, time() * 2);
}

TEST(Bert, LayerKeepsWhatKorthikantiCountsForGpt) {
  // sbh (34 + 5as/h): a norm behind a half of the layer keeps the same tensors as one before it.
  Scenario s = bert(1);
  const double sbh = 512.0 * 2048, a = 16, h = 2048;
  EXPECT_DOUBLE_EQ(blocks(s).at(1).saved, sbh * (34 + 5 * a * 512 / h));
}

TEST(Bert, TensorRanksShareItAndFoldedEqualsUnfolded) {
  Scenario s = bert(16);
  s.parallelism = {.tensor = 4, .pipeline = 2, .data = 2, .sequence = true};
  ASSERT_TRUE(check(s).empty());
  const Blocks whole = blocks(bert(1)), shared = blocks(s);
  const double h = 2048;
  EXPECT_DOUBLE_EQ(shared.at(1).parameters, (whole.at(1).parameters - 6 * h) / 4 + 6 * h);
  EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true, .trace = false}).step);
}

TEST(Vit, HasATokenForEveryPatchAndOneForTheClass) {
  Scenario s = round_numbers(1);
  s.model.family = Family::vit;
  s.model.vocab = 0;
  s.model.image = {3, 224, 224};
  s.model.patch = 16;
  s.model.classes = 1000;
  EXPECT_EQ(tokens_of_sample(s), 197);
  EXPECT_FALSE(forecast(s).tokens_per_second);
  EXPECT_DOUBLE_EQ(blocks(s).at(0).output, 197.0 * 2048 * 2);
}

}  // namespace
}  // namespace stepcast::schedules
