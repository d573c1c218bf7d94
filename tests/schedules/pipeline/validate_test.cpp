#include "schedules/pipeline/validate.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Orders = std::vector<StageOrder>;
using Problems = std::vector<std::string>;

constexpr Pass forward(std::uint32_t m, std::uint32_t v = 0) { return {PassKind::forward, MicroBatchId{m}, v}; }
constexpr Pass backward(std::uint32_t m, std::uint32_t v = 0) { return {PassKind::backward, MicroBatchId{m}, v}; }

Orders correct(const char* name, Shape shape) { return orders(*find_pipeline(name), shape); }

TEST(Validate, AcceptsAnyOrderThatRuns) {
  // Not one of the list: the last stage turns round late.
  const Orders order{{forward(0), forward(1), backward(1), backward(0)},
                     {forward(0), forward(1), backward(1), backward(0)}};
  const Validation validation = validate({2, 2, 1}, order);
  EXPECT_THAT(validation.problems, IsEmpty());
  EXPECT_THAT(validation.most_in_flight, ElementsAre(2, 2));
}

TEST(Validate, FindsAMissingPass) {
  Orders order = correct("1f1b", {3, 4, 1});
  std::erase(order[1], backward(2));
  EXPECT_THAT(validate({3, 4, 1}, order).problems, ElementsAre("backward of micro-batch 2, on stage 1: missing"));
}

TEST(Validate, FindsADoubledPass) {
  Orders order = correct("1f1b", {3, 4, 1});
  order[2].push_back(forward(3));
  EXPECT_THAT(validate({3, 4, 1}, order).problems, ElementsAre("forward of micro-batch 3, on stage 2: more than once"));
}

TEST(Validate, FindsABackwardBeforeItsForward) {
  Orders order = correct("1f1b", {2, 2, 1});
  std::swap(order[1][0], order[1][1]);
  EXPECT_THAT(validate({2, 2, 1}, order).problems,
              ElementsAre("backward of micro-batch 0, on stage 1: before its forward"));
}

Pass weight(std::uint32_t m) { return {PassKind::weight, MicroBatchId{m}}; }

TEST(Validate, FindsAWeightGradientBeforeItsBackwardMissingDoubledOrNotWanted) {
  const Shape shape{2, 2, 1, true};
  Orders early = correct("zb-h1", shape);
  std::swap(*std::ranges::find(early[0], backward(0)), *std::ranges::find(early[0], weight(0)));
  EXPECT_THAT(validate(shape, early).problems,
              ElementsAre("weight gradient of micro-batch 0, on stage 0: before its backward"));
  Orders missing = correct("zb-h1", shape);
  std::erase(missing[1], weight(1));
  EXPECT_THAT(validate(shape, missing).problems, ElementsAre("weight gradient of micro-batch 1, on stage 1: missing"));
  Orders doubled = correct("zb-h1", shape);
  doubled[1].push_back(weight(1));
  EXPECT_THAT(validate(shape, doubled).problems,
              ElementsAre("weight gradient of micro-batch 1, on stage 1: more than once"));
  EXPECT_THAT(validate({2, 2, 1, false}, correct("zb-h1", shape)).problems,
              ::testing::Contains("weight gradient of micro-batch 0, on stage 0: backward is whole in this schedule"));
}

TEST(Validate, FindsADeadlockAcrossStages) {
  // Each stage alone is in order; stage 0 wants its first backward before it sends what stage 1 wants first.
  const Orders order{{forward(0), backward(0), forward(1), backward(1)},
                     {forward(1), forward(0), backward(0), backward(1)}};
  EXPECT_THAT(validate({2, 2, 1}, order).problems,
              ElementsAre("backward of micro-batch 0, on stage 0: deadlock, it waits for ever for backward of "
                          "micro-batch 0, on stage 1",
                          "forward of micro-batch 1, on stage 1: deadlock, it waits for ever for forward of "
                          "micro-batch 1, on stage 0"));
}

TEST(Validate, FindsADeadlockAcrossVirtualStages) {
  // Stage 0 runs chunk 2 (virtual stage 1) before it has fed chunk 1.
  const Orders order{{forward(0, 1), forward(0, 0), backward(0, 1), backward(0, 0)},
                     {forward(0, 0), forward(0, 1), backward(0, 1), backward(0, 0)}};
  EXPECT_THAT(validate({2, 1, 2}, order).problems,
              ElementsAre("forward of micro-batch 0, virtual stage 1, on stage 0: deadlock, it waits for ever for "
                          "forward of micro-batch 0, virtual stage 0, on stage 1",
                          "forward of micro-batch 0, virtual stage 0, on stage 1: deadlock, it waits for ever for "
                          "forward of micro-batch 0, virtual stage 0, on stage 0"));
}

TEST(Validate, FindsAnUnknownMicroBatchAndVirtualStage) {
  Orders order = correct("gpipe", {2, 2, 1});
  order[0].push_back(forward(2));
  order[1].push_back(backward(0, 1));
  EXPECT_THAT(validate({2, 2, 1}, order).problems,
              ElementsAre("forward of micro-batch 2, on stage 0: no such micro-batch, there are 2",
                          "backward of micro-batch 0, virtual stage 1, on stage 1: no such virtual stage, each stage "
                          "has 1"));
}

TEST(Validate, FindsTooFewAndTooManyStages) {
  Orders order = correct("gpipe", {2, 2, 1});
  EXPECT_THAT(validate({3, 2, 1}, order).problems, ElementsAre("the pipeline has 3 stages, the order has 2"));
  order.emplace_back();
  EXPECT_THAT(validate({2, 2, 1}, order).problems, ElementsAre("the pipeline has 2 stages, the order has 3"));
}

TEST(Validate, NamesTwentyProblemsAndCountsTheRest) {
  Orders order{{}};
  for (std::uint32_t twice = 0; twice < 200; ++twice) order[0].push_back(forward(twice % 100));
  const Validation validation = validate({1, 100, 1}, order);
  ASSERT_EQ(validation.problems.size(), Validation::kMostProblems + 1);
  EXPECT_EQ(validation.problems.front(), "forward of micro-batch 0, on stage 0: more than once");
  EXPECT_EQ(validation.problems.back(), "and 180 more");
}

// Every single planted change to a right order is found: removing, doubling, or moving a pass before what it needs.
TEST(Validate, FindsEveryRemovalAndEveryRepeat) {
  const Shape shape{3, 6, 2};
  const Orders good = correct("interleaved-1f1b", shape);
  ASSERT_THAT(validate(shape, good).problems, IsEmpty());
  for (std::size_t s = 0; s < good.size(); ++s) {
    for (std::size_t i = 0; i < good[s].size(); ++i) {
      Orders removed = good, repeated = good;
      removed[s].erase(removed[s].begin() + static_cast<std::ptrdiff_t>(i));
      repeated[s].push_back(good[s][i]);
      EXPECT_FALSE(validate(shape, removed).problems.empty()) << "stage " << s << " pass " << i;
      EXPECT_FALSE(validate(shape, repeated).problems.empty()) << "stage " << s << " pass " << i;
    }
  }
}

TEST(Validate, CountsWhatIsInFlightWhereAForwardNeverEnds) {
  EXPECT_THAT(validate({1, 2, 1}, Orders{{forward(0), forward(1), backward(1)}}).most_in_flight, ElementsAre(2));
}

}  // namespace
}  // namespace stepcast::schedules
