#include "schedules/checks/invariants.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Forecast checked() {
  Scenario s = round_numbers(16);
  s.parallelism.data = 16;
  Forecast f = forecast(s);
  check_invariants(f);
  return f;
}

std::string complaint(const Forecast& f) {
  try {
    check_invariants(f);
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return {};
}

TEST(Invariants, AStagesPartsThatDoNotAddUpNameTheStage) {
  Forecast f = checked();
  f.stages.back().time.compute += Time{1};
  EXPECT_NE(complaint(f).find("the parts of stage 0's time add up to"), std::string::npos) << complaint(f);
}

TEST(Invariants, ALinkThatCarriesMoreThanItCanIsNamed) {
  Forecast f = checked();
  ASSERT_TRUE(f.busiest_link);
  f.busiest_link->utilisation = 1.5;
  EXPECT_NE(complaint(f).find(f.busiest_link->name + " carries 150.0000 %"), std::string::npos) << complaint(f);
}

}  // namespace
}  // namespace stepcast::schedules
