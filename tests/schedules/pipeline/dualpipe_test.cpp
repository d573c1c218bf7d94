#include <algorithm>

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

struct Passes {
  Time forward, backward, weight, both;  ///< backward of the inputs alone
};

/// Forward as long as the inputs' backward, as the closed form has it; the pair as long as its parts, or shorter.
constexpr Passes kPasses[] = {{picoseconds(1), picoseconds(1), picoseconds(1), picoseconds(3)},
                              {picoseconds(10), picoseconds(10), picoseconds(8), picoseconds(28)},
                              {picoseconds(1009), picoseconds(1009), picoseconds(907), picoseconds(2925)}};

// DeepSeek-V3, table 2: bubble (PP/2 - 1)(F&B + B - 3W) with B of inputs and weights together, PP + 1 activations.
// DualPipeV has that of a pipeline twice as deep.
TEST(DualPipe, TakesTheClosedForm) {
  for (const char* name : {"dualpipe", "dualpipe-v"}) {
    const bool cut_in_half = std::string_view(name) == "dualpipe-v";
    for (std::uint32_t p = 2; p <= 8; p += 2)
      for (std::uint32_t m = 2 * p; m <= 4 * p; m += 2)
        for (const Passes& t : kPasses) {
          const PipelineSchedule& schedule = *find_pipeline(name);
          const Shape shape = shape_of(schedule, p, m);
          ASSERT_EQ(schedule.supports(shape), "");
          const std::vector<StageOrder> all = orders(schedule, shape);
          const Validation valid = validate(shape, all);
          ASSERT_EQ(valid.problems, std::vector<std::string>{});
          const IdealTimes times = ideal_times(shape, all, t.forward, t.backward, t.weight, t.both);
          const std::uint32_t depth = cut_in_half ? 2 * p : p;
          const Time whole = t.backward + t.weight;
          for (const Time busy : times.busy)
            EXPECT_EQ(times.end - busy, (t.both + whole - t.weight * 3) * (depth / 2 - 1)) << name << text(shape);
          EXPECT_EQ(valid.most_in_flight, std::vector<std::uint32_t>(p, depth + 1)) << name << text(shape);
        }
  }
}

// Each hides the other's traffic: the more of it, the shorter the step; what is waited for is still the closed form's
// in the middle of the pipeline.
TEST(DualPipe, APairShorterThanItsPartsShortensStepAndBubble) {
  for (std::uint32_t p = 4; p <= 8; p += 2) {
    const Shape shape = shape_of(*find_pipeline("dualpipe"), p, 3 * p);
    const std::vector<StageOrder> all = orders(*find_pipeline("dualpipe"), shape);
    const Time f = picoseconds(10), b = picoseconds(10), w = picoseconds(8), both = picoseconds(24);
    const IdealTimes hidden = ideal_times(shape, all, f, b, w, both), not_hidden = ideal_times(shape, all, f, b, w);
    EXPECT_EQ(hidden.end - hidden.busy[p / 2], (both + b + w - w * 3) * (p / 2 - 1)) << text(shape);
    EXPECT_LT(hidden.end, not_hidden.end);
  }
}

TEST(DualPipe, RefusesTooFewAndOddMicroBatches) {
  const PipelineSchedule& dualpipe = *find_pipeline("dualpipe");
  EXPECT_EQ(dualpipe.supports(shape_of(dualpipe, 4, 6)),
            "dualpipe needs at least twice as many micro-batches (6) as pipeline stages (4)");
  EXPECT_EQ(dualpipe.supports(shape_of(dualpipe, 4, 9)), "dualpipe needs an even number of micro-batches, found 9");
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
