#include "app/report/steps_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/algorithms.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string drawn(const char* algorithm, collectives::Operation operation) {
  const collectives::Request request{.operation = operation, .ranks = 4, .elements = 64};
  return steps_svg(collectives::algorithm(algorithm).plan(request), 4, "title");
}

TEST(StepsSvg, ARoundInWhichRanksSendToManyIsATable) {
  const std::string all_to_all = drawn("direct", collectives::Operation::all_to_all);
  EXPECT_THAT(all_to_all, HasSubstr(">from 3</text>"));
  EXPECT_THAT(all_to_all, Not(HasSubstr("replaces"))) << "an arrow";
  EXPECT_THAT(drawn("naive", collectives::Operation::all_reduce), HasSubstr(">+: adds</text>"));
}

TEST(StepsSvg, ARoundInWhichEachSendsToFewHasArrows) {
  EXPECT_THAT(drawn("ring", collectives::Operation::all_reduce), Not(HasSubstr("from ")));
}

}  // namespace
}  // namespace stepcast::app
