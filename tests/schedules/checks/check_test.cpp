#include "schedules/checks/check.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

std::vector<std::string> keys_of(const std::vector<Problem>& problems) {
  std::vector<std::string> keys;
  for (const Problem& problem : problems) keys.push_back(problem.key);
  return keys;
}

TEST(Check, WhatTheScheduleHasNoPartInStandsFirst) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  EXPECT_TRUE(check_layer_split(s).empty());
  EXPECT_TRUE(check_schedule(s).empty());

  s.pipeline.virtual_stages = 3;
  EXPECT_TRUE(check_layer_split(s).empty());
  EXPECT_FALSE(check_schedule(s).empty());
  EXPECT_EQ(keys_of(check(s)), keys_of(check_schedule(s)));

  s.training.micro_batch = 3;
  const std::vector<std::string> of_split = keys_of(check_layer_split(s));
  EXPECT_EQ(of_split, std::vector<std::string>{"training.global_batch"});
  EXPECT_EQ(keys_of(check(s)).front(), of_split.front());
}

}  // namespace
}  // namespace stepcast::schedules
