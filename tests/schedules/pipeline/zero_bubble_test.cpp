#include <algorithm>

#include "schedules/pipeline/ideal.h"
#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

struct Passes {
  Time forward, backward, weight;
};
/// Equal; as a transformer layer has them; a pair that divides nothing. W is never the longest: the paper's assumption.
constexpr Passes kPasses[] = {{picoseconds(1), picoseconds(1), picoseconds(1)},
                              {picoseconds(10), picoseconds(11), picoseconds(9)},
                              {picoseconds(1009), picoseconds(1103), picoseconds(907)}};

IdealTimes run(std::string_view name, Shape shape, const Passes& t) {
  const PipelineSchedule& schedule = *find_pipeline(name);
  const std::vector<StageOrder> all = orders(schedule, shape);
  EXPECT_EQ(validate(shape, all).problems, std::vector<std::string>{});
  return ideal_times(shape, all, t.forward, t.backward, t.weight);
}

// Qi et al. 2024, table 2: bubble (p - 1)(F + B - W), memory p micro-batches.
TEST(ZeroBubble, H1TakesTheClosedFormInTheMemoryOf1F1B) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = p; m <= 24; ++m) {
      const Shape shape{p, m, 1, true};
      for (const Passes& t : kPasses) {
        EXPECT_EQ(run("zb-h1", shape, t).end,
                  (t.forward + t.backward + t.weight) * m + (t.forward + t.backward - t.weight) * (p - 1))
            << text(shape);
      }
      const std::vector<std::uint32_t> held = validate(shape, orders(*find_pipeline("zb-h1"), shape)).most_in_flight;
      EXPECT_EQ(std::ranges::max(held), p) << text(shape);
    }
  }
}

// Table 2: (p - 1)(F + B - 2W), counted on each stage between its own first pass and its last; 2p - 1 micro-batches.
TEST(ZeroBubble, H2WaitsForNothingWherePassesAreEqual) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = 2 * p - 1; m <= 24; ++m) {
      const Shape shape{p, m, 1, true};
      for (const Passes& t : kPasses) {
        const IdealTimes times = run("zb-h2", shape, t);
        const Time work = (t.forward + t.backward + t.weight) * m;
        Time most{};
        for (const std::vector<Time>& starts : times.start) {
          most = std::max(most, starts.back() + t.weight - starts.front() - work);
        }
        EXPECT_EQ(most, (t.forward + t.backward - t.weight * 2) * (p - 1)) << text(shape);
      }
      const std::vector<std::uint32_t> held = validate(shape, orders(*find_pipeline("zb-h2"), shape)).most_in_flight;
      EXPECT_EQ(std::ranges::max(held), 2 * p - 1) << text(shape);
    }
  }
}

// Section 6: a V has no bubble where F, B and W are equal, in the memory of 1F1B, whose first stage holds p whole
// stages' activations: 2p chunks'. Below, between a stage's first pass and its last; 2p - 1 micro-batches fill it.
TEST(ZeroBubble, VWaitsForNothingInTheMemoryOf1F1BWherePassesAreEqual) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = 2 * p; m <= 24; ++m) {
      const Shape shape = shape_of(*find_pipeline("zb-v"), p, m);
      const IdealTimes times = run("zb-v", shape, kPasses[0]);
      for (std::uint32_t s = 0; s < p; ++s)
        EXPECT_EQ(times.start[s].back() + kPasses[0].weight - times.start[s].front(), times.busy[s]) << text(shape);
      EXPECT_EQ(times.end, picoseconds(6) * m + picoseconds(1) * (p - 1)) << text(shape);
      const std::vector<StageOrder> all = orders(*find_pipeline("zb-v"), shape);
      EXPECT_EQ(validate(shape, all).most_in_flight, std::vector<std::uint32_t>(p, 2 * p)) << text(shape);
    }
  }
}

TEST(ZeroBubble, RunsWithFewerMicroBatchesThanStages) {
  for (const char* name : {"zb-h1", "zb-h2"}) {
    for (std::uint32_t p = 1; p <= 8; ++p) {
      for (std::uint32_t m = 1; m <= p; ++m) run(name, {p, m, 1, true}, kPasses[1]);
    }
  }
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
