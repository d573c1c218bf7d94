#include "calibrate/confidence/traits.h"

#include <gmock/gmock.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::calibrate {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Measured rows with the attention core repeated say nothing of other modules.
TEST(Traits, NamedModulesAreAnotherRecomputationThanSelective) {
  schedules::Scenario s = schedules::round_numbers(8);
  s.recompute = schedules::Recompute::selective;
  EXPECT_THAT(traits(s).kinds, Contains("selective recomputation"));
  s.recomputed_modules = {.attention_core = true};  // which is what none named means
  EXPECT_THAT(traits(s).kinds, Contains("selective recomputation"));
  s.recomputed_modules = {.feed_forward = true};
  EXPECT_THAT(traits(s).kinds, Contains("recomputation of named modules"));
  EXPECT_THAT(traits(s).kinds, Not(Contains("selective recomputation")));
}

}  // namespace
}  // namespace stepcast::calibrate
