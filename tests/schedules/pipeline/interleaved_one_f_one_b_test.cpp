#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
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

/// Sizes of groups that Megatron-LM runs: from p to all, and the last group empty or not below p.
std::vector<std::uint32_t> group_sizes(std::uint32_t p, std::uint32_t m) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t g = p; g <= m; ++g)
    if (m % g == 0 || m % g >= p) sizes.push_back(g);
  return sizes;
}

template <class Check>
void for_uneven_shapes(const Check& check) {
  for (std::uint32_t v = 2; v <= 4; ++v)
    for (std::uint32_t p = 2; p <= 6; ++p)
      for (std::uint32_t m = p; m <= 3 * p + 1; ++m) check(Shape{p, m, v});
}

// Any number of micro-batches from p on, in groups of any size that runs: no deadlock (run_ideal validates), and the
// time of the paper's form, (v m + p - 1)(f + b), which asks only that no group is smaller than p.
TEST(InterleavedOneFOneB, AnyGroupsKeepTheBubble) {
  for_uneven_shapes([](Shape shape) {
    std::vector<std::uint32_t> sizes = group_sizes(shape.stages, shape.micro_batches);
    sizes.push_back(0);
    for (const std::uint32_t g : sizes) {
      shape.micro_batch_group = g;
      for (const Costs& c : kCosts)
        EXPECT_EQ(run_ideal(kName, shape, c.forward, c.backward).end,
                  (c.forward + c.backward) * (shape.virtual_stages * shape.micro_batches + shape.stages - 1))
            << text(shape) << " g=" << g;
    }
  });
}

// 2(p-s-1) + (v-1)g ahead, and one more.
TEST(InterleavedOneFOneB, LargerGroupsHoldMore) {
  for_uneven_shapes([](Shape shape) {
    const auto [p, m, v] = std::array{shape.stages, shape.micro_batches, shape.virtual_stages};
    for (const std::uint32_t g : group_sizes(p, m)) {
      shape.micro_batch_group = g;
      std::vector<std::uint32_t> held;
      for (std::uint32_t s = 0; s < p; ++s) held.push_back(std::min(2 * (p - s - 1) + (v - 1) * g + 1, v * m));
      EXPECT_EQ(run_ideal(kName, shape, picoseconds(1), picoseconds(2)).in_flight, held) << text(shape) << " g=" << g;
    }
  });
}

TEST(InterleavedOneFOneB, EveryMicroBatchVisitsEveryChunkOnceEachWay) {
  for_uneven_shapes([](Shape shape) {
    for (const StageOrder& order : orders(*find_pipeline(kName), shape)) {
      std::map<std::tuple<PassKind, std::uint32_t, std::uint32_t>, int> visits;
      for (const Pass& pass : order) ++visits[{pass.kind, index(pass.micro_batch), pass.virtual_stage}];
      EXPECT_EQ(visits.size(), std::size_t{2} * shape.micro_batches * shape.virtual_stages) << text(shape);
      EXPECT_EQ(order.size(), visits.size()) << text(shape);
    }
  });
}

// The example in Megatron-LM's schedules.py: 2 stages of 2 chunks, 5 micro-batches in groups of 3.
TEST(InterleavedOneFOneB, TheLastGroupIsWhatIsLeft) {
  std::vector<std::uint32_t> micro_batches, chunks;
  for (const Pass& pass :
       find_pipeline(kName)->order({.stages = 2, .micro_batches = 5, .virtual_stages = 2}, StageId{0}))
    if (pass.kind == PassKind::forward) {
      micro_batches.push_back(index(pass.micro_batch));
      chunks.push_back(pass.virtual_stage);
    }
  EXPECT_EQ(micro_batches, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(chunks, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 0, 0, 1, 1}));
}

// Groups of p where that divides the micro-batches, else the smallest that run.
TEST(InterleavedOneFOneB, GroupsAreAsSmallAsRuns) {
  for_uneven_shapes([](Shape shape) {
    Shape least = shape;
    least.micro_batch_group = group_sizes(shape.stages, shape.micro_batches).front();
    EXPECT_EQ(orders(*find_pipeline(kName), shape), orders(*find_pipeline(kName), least)) << text(shape);
  });
}

TEST(InterleavedOneFOneB, RefusesWhatWouldWaitForItself) {
  const auto refused = [](std::uint32_t m, std::uint32_t group) {
    Shape shape{4, m, 2};
    shape.micro_batch_group = group;
    return find_pipeline(kName)->supports(shape);
  };
  EXPECT_EQ(refused(3, 0), "interleaved-1f1b needs at least as many micro-batches (3) as pipeline stages (4)");
  EXPECT_EQ(refused(10, 3), "found groups of 3 micro-batches, expected 4 (pipeline stages) to 10 (all)");
  EXPECT_EQ(refused(10, 11), "found groups of 11 micro-batches, expected 4 (pipeline stages) to 10 (all)");
  EXPECT_EQ(
      refused(10, 4),
      "groups of 4 leave a last one of 2 of 10 micro-batches, expected none or at least the 4 stages; nearest: 5");
  EXPECT_EQ(refused(10, 8),
            "groups of 8 leave a last one of 2 of 10 micro-batches, expected none or at least the 4 stages; nearest: 6 "
            "or 10");
  EXPECT_EQ(refused(10, 6), "");
  EXPECT_EQ(find_pipeline(kName)->supports({4, 3, 1}), "");  // plain 1F1B
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
