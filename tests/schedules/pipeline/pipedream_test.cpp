#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

// Harlap et al. 2018, figure 4: once it is full no stage waits, one micro-batch leaves every F + B; stage s holds p -
// s.
TEST(PipeDream, NoStageWaitsInTheSteadyState) {
  for (const char* name : {"pipedream", "pipedream-2bw"})
    for (std::uint32_t p = 1; p <= 8; ++p) {
      const Shape shape = shape_of(*find_pipeline(name), p, 6 * p);
      const std::vector<StageOrder> all = orders(*find_pipeline(name), shape);
      const IdealTimes times = ideal_times(shape, all, picoseconds(7), picoseconds(13));
      for (std::uint32_t s = 0; s < p; ++s) {
        // From the p-th backward on and as long as there are forwards: pass after pass.
        for (std::size_t i = 0; i + 1 < all[s].size(); ++i) {
          if (index(all[s][i].micro_batch) < p || index(all[s][i].micro_batch) + p >= shape.micro_batches) continue;
          const Time end = times.start[s][i] + (all[s][i].kind == PassKind::forward ? picoseconds(7) : picoseconds(13));
          EXPECT_EQ(times.start[s][i + 1], end) << name << ' ' << text(shape) << " stage " << s << " pass " << i;
        }
        EXPECT_EQ(validate(shape, all).most_in_flight[s], p - s);
      }
    }
}

// SOSP 2019, section 3.3: as many versions as micro-batches in flight. arXiv:2006.09503, section 3.1: two.
TEST(PipeDream, KeepsAVersionOfTheWeightsPerMicroBatchInFlightAndTheDoubleBufferTwo) {
  const PipelineSchedule &stashing = *find_pipeline("pipedream"), &double_buffer = *find_pipeline("pipedream-2bw");
  for (std::uint32_t s = 0; s < 4; ++s) {
    EXPECT_EQ(stashing.weight_versions(shape_of(stashing, 4, 8), StageId{s}), 4 - s);
    EXPECT_EQ(double_buffer.weight_versions(shape_of(double_buffer, 4, 8), StageId{s}), 2u);
  }
  EXPECT_EQ(double_buffer.supports(shape_of(double_buffer, 4, 3)),
            "pipedream-2bw needs at least as many micro-batches (3) as pipeline stages (4)");
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
