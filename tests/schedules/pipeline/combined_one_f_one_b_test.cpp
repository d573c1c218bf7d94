#include <algorithm>

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

constexpr const char* kName = "combined-1f1b";

// Pairs that hide nothing take as long as their passes: the time of interleaved 1F1B (Narayanan et al. 2021, 2.2.2),
// with one activation more, of the forward that runs while the backward still needs its own.
TEST(CombinedOneFOneB, TakesInterleavedsTimeWherePairsHideNothingAndHoldsOneMore) {
  for (std::uint32_t v = 2; v <= 4; ++v)
    for (std::uint32_t p = 1; p <= 8; ++p)
      for (std::uint32_t m = p; m <= 24; m += p) {
        const Shape shape{p, m, v};
        for (const Costs& c : kCosts) {
          const IdealRun run = run_ideal(kName, shape, c.forward, c.backward);
          EXPECT_EQ(run.end, (c.forward + c.backward) * (v * m + p - 1)) << text(shape);
        }
        std::vector<std::uint32_t> held;
        for (std::uint32_t s = 0; s < p; ++s) held.push_back(std::min(2 * (p - s - 1) + (v - 1) * p + 2, v * m));
        EXPECT_EQ(run_ideal(kName, shape, picoseconds(1), picoseconds(2)).in_flight, held) << text(shape);
      }
}

// All but the warm-up's forwards and as many backwards are of a pair: what a pair hides comes off for each.
TEST(CombinedOneFOneB, AStageIsBusyAShorterTimeForEachPair) {
  const Time f = picoseconds(10), b = picoseconds(20), both = picoseconds(24);
  for (const std::uint32_t p : {2u, 4u, 8u}) {
    const Shape shape{p, 4 * p, 2};
    const std::vector<StageOrder> all = orders(*find_pipeline(kName), shape);
    const IdealTimes times = ideal_times(shape, all, f, b, {}, both);
    for (std::uint32_t s = 0; s < p; ++s) {
      const std::uint32_t alone = 2 * (p - s - 1) + p + 1, pairs = 8 * p - alone;
      EXPECT_EQ(times.busy[s], both * pairs + (f + b) * alone) << text(shape) << " stage " << s;
    }
    EXPECT_LT(times.end, ideal_times(shape, all, f, b).end);
  }
}

TEST(CombinedOneFOneB, RefusesOneChunkAndMicroBatchesThatDoNotFillGroups) {
  const PipelineSchedule& combined = *find_pipeline(kName);
  EXPECT_EQ(combined.supports({4, 8, 1}),
            "combined-1f1b needs several virtual stages: with one, a stage's pair would wait for its neighbour's");
  EXPECT_EQ(combined.supports({1, 8, 1}), "");
  EXPECT_EQ(combined.supports({4, 10, 2}),
            "combined-1f1b needs micro-batches (10) to be a multiple of pipeline stages (4)");
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
