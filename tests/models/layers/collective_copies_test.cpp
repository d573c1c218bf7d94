#include "models/layers/collective_copies.h"

#include <gtest/gtest.h>

#include "models/cost/kernel_time.h"
#include "models/layers/model_blocks.h"
#include "models/layers/weight_work.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Eight data ranks that shard as FSDP2 does, with gradients summed in fp32.
Scenario sharded_as_fsdp2() {
  Scenario s = round_numbers(8);
  s.parallelism.data = 8;
  s.data_parallel.zero = 3;
  s.software.copies_gathered = s.software.block_gradients = true;
  s.software.gradient_precision = Precision::fp32;
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  return s;
}

double copied(const Kernels& pass) { return touched_bytes(pass, OperatorKind::collective_copy); }

TEST(CollectiveCopies, BlocksReadAndWriteWhatIsGatheredAndWhatIsSummed) {
  Scenario s = sharded_as_fsdp2();
  s.model.variations.tied_head = false;
  for (const Block& block : blocks(s).kinds) {
    EXPECT_EQ(copied(block.forward), 4 * block.parameters) << block.name;
    EXPECT_EQ(copied(block.backward), (4 + 2 + 4) * block.parameters) << block.name;
  }
}

TEST(CollectiveCopies, OfAHeadThatIsTheEmbeddingAreMadeOnce) {
  Scenario s = sharded_as_fsdp2();
  s.model.variations.tied_head = true;
  const Blocks model = blocks(s);
  ASSERT_GT(model.tied, 0);
  double all = 0, parameters = -model.tied;
  for (const std::uint32_t kind : model.order) {
    all += copied(model.kinds[kind].forward);
    parameters += model.kinds[kind].parameters;
  }
  EXPECT_EQ(all, 4 * parameters);
}

TEST(CollectiveCopies, AreOfOneByteWhereEightBitsAreGathered) {
  Scenario s = sharded_as_fsdp2();
  s.training.eight_bit_parameters = true;
  const Blocks model = blocks(s);
  EXPECT_EQ(copied(model.at(1).forward), 2 * model.at(1).parameters);
}

TEST(CollectiveCopies, NoneOnOneRankAndNoneWithoutSuchAStack) {
  Scenario alone = sharded_as_fsdp2();
  alone.cluster.gpus = 1;
  alone.parallelism.data = 1;
  Scenario other = sharded_as_fsdp2();
  other.software.copies_gathered = other.software.block_gradients = false;
  for (const Scenario& s : {alone, other})
    for (const Block& block : blocks(s).kinds) EXPECT_EQ(copied(block.forward) + copied(block.backward), 0);
}

// PyTorch's DDP: each gradient to its bucket and back, 16 bytes in fp32, once a step however many micro-batches.
TEST(CollectiveCopies, OnceAStepTakeTheTimeOfTheirBytes) {
  for (const std::int64_t batch : {8, 32}) {
    Scenario views = round_numbers(8);
    views.parallelism.data = 8;
    views.training.global_batch = batch;
    Scenario s = views;
    s.software.gradient_as_bucket_view = false;
    const Forecast copies = forecast(s);
    const KernelCost cost{.gpu = s.cluster.gpu, .software = s.software, .precision = s.training.precision};
    EXPECT_EQ(copies.step - forecast(views).step,
              cost.time(Elementwise{OperatorKind::collective_copy, 16 * copies.parameters}));
  }
}

TEST(CollectiveCopies, AreMadeAfterEachMicroBatchOrOnceAsGradientsAreSummed) {
  Scenario each = sharded_as_fsdp2(), once = sharded_as_fsdp2();
  each.data_parallel.sum_once = false;
  once.data_parallel.sum_once = true;
  EXPECT_TRUE(weight_work(each).copies_summed);
  EXPECT_EQ(gradients_copied_once(each), 0);
  EXPECT_FALSE(weight_work(once).copies_summed);
  EXPECT_EQ(gradients_copied_once(once), 6);
}

TEST(CollectiveCopies, OfDeepSpeedsBucketsAreInTheTypeThatIsSummed) {
  Scenario s = sharded_as_fsdp2();
  s.software.block_gradients = false;
  s.software.bucket_copies = 2;
  s.software.gradient_precision = Precision::bf16;
  EXPECT_EQ(copies_of_passes(s).summed, 4);
  s.data_parallel.zero = 1;
  EXPECT_EQ(copies_of_passes(s).summed, 0);
  EXPECT_EQ(gradients_copied_once(s), 4);
}

}  // namespace
}  // namespace stepcast::schedules
