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

TEST(Check, ASampleHasNoMoreTokensThanTheModelHasLearnedPositions) {
  Scenario s = round_numbers(1);
  s.model.family = Family::gpt;
  s.model.positions = s.training.sequence;
  EXPECT_TRUE(check(s).empty());
  s.model.positions = s.training.sequence - 1;
  EXPECT_EQ(keys_of(check(s)), std::vector<std::string>{"training.sequence"});
  s.model.family = Family::llama;
  EXPECT_TRUE(check(s).empty()) << "rotated positions have no end";
}

TEST(Check, ACheckpointIsWrittenAtARateOrInATimeNotBoth) {
  Scenario s = round_numbers(1);
  s.checkpoint.every = 100;
  s.checkpoint.write_time = from_seconds(1);
  EXPECT_TRUE(check(s).empty());
  s.checkpoint.bandwidth = Bandwidth{1e9};
  EXPECT_EQ(keys_of(check(s)), std::vector<std::string>{"checkpoint.write_time"});
}

TEST(Check, AnUpdateInBackwardNeedsEachGradientOnce) {
  Scenario s = round_numbers(4);
  s.parallelism = {.data = 4};
  s.training.global_batch = 4;
  s.data_parallel.zero = 3;
  s.training.update_in_backward = true;
  EXPECT_TRUE(check(s).empty());
  const std::vector<std::string> at_fault{"training.update_in_backward"};
  const auto finds = [&](auto change) {
    Scenario changed = s;
    change(changed);
    return keys_of(check(changed)) == at_fault;
  };
  EXPECT_TRUE(finds([](Scenario& c) { c.training.global_batch = 8; })) << "two micro-batches";
  EXPECT_TRUE(finds([](Scenario& c) { c.data_parallel.zero = 0; })) << "buckets";
  EXPECT_TRUE(finds([](Scenario& c) { c.parallelism = {.pipeline = 2, .data = 2}; }));
  EXPECT_TRUE(finds([](Scenario& c) { c.offload.optimizer = Tier::host; }));
  EXPECT_TRUE(finds([](Scenario& c) { c.training.optimizer = Optimizer::none; }));
}

// Twelve GPUs fill a node and a half, and lie on three here.
TEST(Check, ASlowNodeIsOneOfThoseInUse) {
  Scenario s = round_numbers(12);
  s.parallelism = {.data = 12};
  s.training.global_batch = 12;
  s.cluster.allocation = topology::resolve(topology::parse_allocation("node0-2:0-3"), s.cluster.node.gpus, "");
  for (const std::uint32_t node : {0u, 2u}) {
    s.imperfections = {.slow_node = node, .network_speed = 0.5};
    EXPECT_TRUE(check(s).empty()) << node << ' ' << check(s).front().text;
  }
  s.imperfections.slow_node = 3;
  EXPECT_EQ(keys_of(check(s)), std::vector<std::string>{"imperfections.slow_node"});
  s = round_numbers(s.cluster.node.gpus);
  s.parallelism = {.data = s.cluster.node.gpus};
  EXPECT_TRUE(check(s).empty());
  s.imperfections = {.slow_node = 0, .network_speed = 0.5};
  EXPECT_EQ(keys_of(check(s)), std::vector<std::string>{"imperfections.slow_node"}) << "its cards carry nothing";
}

}  // namespace
}  // namespace stepcast::schedules
