#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

Shape shape_for(std::uint32_t stages, std::uint32_t micro_batches) {
  return shape_of(*find_pipeline("chimera"), stages, micro_batches);
}

// Li and Hoefler 2021, table 2: bubble ratio (D - 2) / (2N + D - 2) where forward and backward take as long: D - 2
// slots beside the 2N of work. 1F1B waits for 2 (D - 1).
TEST(Chimera, TakesTheClosedFormWherePassesAreEqual) {
  for (std::uint32_t d = 2; d <= 12; d += 2)
    for (std::uint32_t n = d; n <= 4 * d; n += d) {
      const IdealRun run = run_ideal("chimera", shape_for(d, n), picoseconds(5), picoseconds(5));
      EXPECT_EQ(run.end, picoseconds(5) * (2 * n + d - 2)) << "D=" << d << " N=" << n;
      EXPECT_NEAR(run.bubble, (d - 2.0) / (2 * n + d - 2), 1e-12) << "D=" << d << " N=" << n;
    }
}

// Section 3.1: with backward twice as long, (D - 2) / (3N/2 + D - 2) for one unit, N = D: D - 2 backwards of bubble.
TEST(Chimera, WaitsForBackwardsWhereTheyAreLonger) {
  for (std::uint32_t d = 2; d <= 12; d += 2) {
    const IdealRun run = run_ideal("chimera", shape_for(d, d), picoseconds(5), picoseconds(10));
    EXPECT_NEAR(run.bubble, (d - 2.0) / (1.5 * d + d - 2), 1e-12) << "D=" << d;
  }
}

// Table 2: activations of D/2 + 1 micro-batches on the stages at the ends, of D in the middle.
TEST(Chimera, HoldsFromHalfADepthAndOneToADepth) {
  for (std::uint32_t d = 4; d <= 12; d += 2)
    for (std::uint32_t n = d; n <= 3 * d; n += d) {
      const std::vector<std::uint32_t> held =
          run_ideal("chimera", shape_for(d, n), picoseconds(1), picoseconds(2)).in_flight;
      for (std::uint32_t s = 0; s < d; ++s) EXPECT_EQ(held[s], d / 2 + 1 + std::min(s, d - 1 - s)) << "D=" << d;
    }
}

TEST(Chimera, RefusesOddStagesAndMicroBatchesThatDoNotFillUnits) {
  EXPECT_EQ(find_pipeline("chimera")->supports(shape_for(4, 6)),
            "chimera needs micro-batches (6) to be a multiple of pipeline stages (4)");
  EXPECT_EQ(
      find_pipeline("chimera")->supports(shape_for(3, 6)),
      "two copies of the model in opposite directions need an even number of stages (3) with 2 virtual stages (2)");
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
