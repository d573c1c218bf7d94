#include <algorithm>

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::testing {
namespace {

constexpr const char* kName = "interleaved-1f1b";

// Narayanan et al. 2021, section 2.2.2: with v chunks, each 1/v of a stage, the bubble is (p-1)(f+b)/v where f and b
// are a whole stage's, so in times of one chunk: (v m + p - 1)(f + b), and the bubble is (p-1)/(v m) of the ideal time.
TEST(InterleavedOneFOneB, ShrinksTheBubbleByTheNumberOfChunks) {
  for (std::uint32_t v = 2; v <= 4; ++v) {
    for (std::uint32_t p = 1; p <= 8; ++p) {
      for (std::uint32_t m = p; m <= 24; m += p) {
        for (const Costs& c : kCosts) {
          const IdealRun run = run_ideal(kName, {p, m, v}, c.forward, c.backward);
          EXPECT_EQ(run.end, (c.forward + c.backward) * (v * m + p - 1)) << text({p, m, v});
          EXPECT_NEAR(run.bubble / (1 - run.bubble), (p - 1.0) / (v * m), 1e-12) << text({p, m, v});
        }
      }
    }
  }
}

// Warm-up 2(p-s-1) + (v-1)p, one more forward, then a backward for each: never more than there are.
TEST(InterleavedOneFOneB, HoldsItsWarmUpAndOneMore) {
  for (std::uint32_t v = 2; v <= 4; ++v) {
    for (std::uint32_t p = 1; p <= 8; ++p) {
      for (std::uint32_t m = p; m <= 24; m += p) {
        std::vector<std::uint32_t> held;
        for (std::uint32_t s = 0; s < p; ++s) held.push_back(std::min(2 * (p - s - 1) + (v - 1) * p + 1, v * m));
        EXPECT_EQ(run_ideal(kName, {p, m, v}, picoseconds(1), picoseconds(2)).in_flight, held) << text({p, m, v});
      }
    }
  }
}

TEST(InterleavedOneFOneB, WithOneChunkIsPlainOneFOneB) {
  const Shape shape{4, 8, 1};
  EXPECT_EQ(orders(*find_pipeline(kName), shape), orders(*find_pipeline("1f1b"), shape));
}

// Figure 4 of the paper, first device: 1 2 3 4 through chunk 0, then through chunk 1, then 5 6 7 8.
TEST(InterleavedOneFOneB, GroupsOfStagesManyMicroBatchesVisitTheChunksInTurn) {
  const StageOrder order = find_pipeline(kName)->order({4, 8, 2}, StageId{0});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forwards, backwards;
  for (const Pass& pass : order) {
    (pass.kind == PassKind::forward ? forwards : backwards).emplace_back(index(pass.micro_batch), pass.virtual_stage);
  }
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(forwards, (Pairs{{0, 0},
                             {1, 0},
                             {2, 0},
                             {3, 0},
                             {0, 1},
                             {1, 1},
                             {2, 1},
                             {3, 1},
                             {4, 0},
                             {5, 0},
                             {6, 0},
                             {7, 0},
                             {4, 1},
                             {5, 1},
                             {6, 1},
                             {7, 1}}));
  EXPECT_EQ(backwards, (Pairs{{0, 1},
                              {1, 1},
                              {2, 1},
                              {3, 1},
                              {0, 0},
                              {1, 0},
                              {2, 0},
                              {3, 0},
                              {4, 1},
                              {5, 1},
                              {6, 1},
                              {7, 1},
                              {4, 0},
                              {5, 0},
                              {6, 0},
                              {7, 0}}));
}

TEST(InterleavedOneFOneB, RefusesMicroBatchesThatDoNotFillGroups) {
  EXPECT_EQ(find_pipeline(kName)->supports({4, 10, 2}),
            "interleaved-1f1b needs micro-batches (10) to be a multiple of pipeline stages (4)");
}

}  // namespace
}  // namespace stepcast::schedules::testing
