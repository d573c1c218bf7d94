// Ten errors planted in right orders, each found and named.

#include <gmock/gmock.h>

#include <algorithm>

#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"
#include "schedules/pipeline/shape.h"
#include "schedules/pipeline/validate.h"

namespace stepcast::schedules {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Pass forward(std::uint32_t m, std::uint32_t v = 0) { return {PassKind::forward, MicroBatchId{m}, v}; }
constexpr Pass backward(std::uint32_t m, std::uint32_t v = 0) { return {PassKind::backward, MicroBatchId{m}, v}; }
constexpr Pass weight(std::uint32_t m, std::uint32_t v = 0) { return {PassKind::weight, MicroBatchId{m}, v}; }

/// A schedule's orders, to plant in.
struct Field {
  Shape shape;
  std::vector<StageOrder> orders;

  Field(const char* name, std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t virtual_stages = 1)
      : shape(shape_of(*find_pipeline(name), stages, micro_batches, virtual_stages)),
        orders(schedules::orders(*find_pipeline(name), shape)) {
    EXPECT_THAT(problems(), IsEmpty()) << name;
  }
  std::vector<std::string> problems(std::optional<std::uint32_t> limit = {}) const {
    return validate(shape, orders, limit).problems;
  }
  void swap(std::uint32_t stage, Pass a, Pass b) {
    std::swap(*std::ranges::find(orders[stage], a), *std::ranges::find(orders[stage], b));
  }
};

TEST(PlantedErrors, MissingPass) {
  Field field("zb-v", 4, 8);
  std::erase(field.orders[2], backward(5, 1));
  EXPECT_THAT(field.problems(),
              ElementsAre("weight gradient of micro-batch 5, virtual stage 1, on stage 2: before its backward",
                          "backward of micro-batch 5, virtual stage 1, on stage 2: missing"));
}

TEST(PlantedErrors, DoubledPass) {
  Field field("dualpipe", 4, 8);
  field.orders[1].push_back(forward(2));
  EXPECT_THAT(field.problems(), ElementsAre("forward of micro-batch 2, virtual stage 0, on stage 1: more than once"));
}

TEST(PlantedErrors, BackwardBeforeForward) {
  Field field("1f1b", 4, 8);
  field.swap(3, forward(4), backward(4));
  EXPECT_THAT(field.problems(), ElementsAre("backward of micro-batch 4, on stage 3: before its forward"));
}

TEST(PlantedErrors, PassOnTheWrongStage) {
  Field field("gpipe", 4, 8);
  std::erase(field.orders[1], forward(3));
  field.orders[2].push_back(forward(3));
  EXPECT_THAT(field.problems(), ElementsAre("backward of micro-batch 3, on stage 1: before its forward",
                                            "forward of micro-batch 3, on stage 1: missing",
                                            "forward of micro-batch 3, on stage 2: more than once"));
  Field two_ways("chimera", 4, 4);
  two_ways.orders[0].push_back(forward(0, 1));
  EXPECT_THAT(two_ways.problems(),
              ElementsAre("forward of micro-batch 0, virtual stage 1, on stage 0: this micro-batch "
                          "goes through the model's other copy"));
}

TEST(PlantedErrors, WrongOrderOfMicroBatches) {
  Field field("1f1b", 4, 8);
  // Stage 3 wants micro-batch 1 first. Stage 0 does send it, but 2 waits for backward of 0, which never comes.
  field.orders[3] = {forward(4), backward(4)};
  for (std::uint32_t m = 0; m < 8; ++m)
    if (m != 4) field.orders[3].insert(field.orders[3].end(), {forward(m), backward(m)});
  EXPECT_THAT(field.problems(),
              Contains("forward of micro-batch 4, on stage 3: deadlock, it waits for ever for forward "
                       "of micro-batch 4, on stage 2"));
}

TEST(PlantedErrors, StagesThatWaitInACircle) {
  Field field("interleaved-1f1b", 2, 4, 2);
  // Stage 0 runs its second chunk before it has fed stage 1, whose first chunk feeds that.
  field.swap(0, forward(0, 0), forward(0, 1));
  EXPECT_THAT(field.problems(),
              ElementsAre("forward of micro-batch 0, virtual stage 1, on stage 0: deadlock, it waits for ever for "
                          "forward of micro-batch 0, virtual stage 0, on stage 1",
                          "forward of micro-batch 0, virtual stage 0, on stage 1: deadlock, it waits for ever for "
                          "forward of micro-batch 0, virtual stage 0, on stage 0"));
}

TEST(PlantedErrors, MoreActivationsThanTheLimit) {
  const Field field("1f1b", 4, 8);
  EXPECT_THAT(field.problems(4), IsEmpty());
  EXPECT_THAT(field.problems(3), ElementsAre("forward of micro-batch 3, on stage 0: 4 in flight, the limit is 3"));
}

TEST(PlantedErrors, WeightPassBeforeItsBackward) {
  Field field("zb-h1", 4, 8);
  field.swap(1, backward(2), weight(2));
  EXPECT_THAT(field.problems(), ElementsAre("weight gradient of micro-batch 2, on stage 1: before its backward"));
}

TEST(PlantedErrors, ChunkThatNoStageHolds) {
  Field field("interleaved-1f1b", 4, 8, 2);
  std::erase_if(field.orders[1], [](const Pass& pass) { return pass.virtual_stage == 1; });
  EXPECT_THAT(field.problems(),
              ElementsAre("model chunk 5 is held by no stage: stage 1 runs no pass of virtual stage 1"));
}

TEST(PlantedErrors, FewerMicroBatchesOnOneStage) {
  Field field("1f1b", 4, 8);
  std::erase_if(field.orders[2], [](const Pass& pass) { return index(pass.micro_batch) == 7; });
  EXPECT_THAT(field.problems(), ElementsAre("stage 2 runs 7 of 8 micro-batches: no pass of micro-batch 7"));
}

TEST(PlantedErrors, PairOfTheWrongKinds) {
  Field field("dualpipe", 4, 8);
  Pass& pass = *std::ranges::find_if(field.orders[0], &Pass::with_next);
  pass.with_next = false;
  EXPECT_THAT(field.problems(), IsEmpty());  // one after the other is an order too
  field.orders[0].front().with_next = true;
  EXPECT_THAT(field.problems(),
              Contains(HasSubstr("only a forward and the backward of another visit can run together")));
}

}  // namespace
}  // namespace stepcast::schedules
