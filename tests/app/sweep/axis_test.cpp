#include "app/sweep/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using testing::ElementsAre;

std::vector<std::string> axis_values(const std::string& word) { return read_axis(word).values; }

std::string axis_error(const std::string& word) {
  try {
    read_axis(word);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Axis, ListsAreTakenAsTheyStand) {
  EXPECT_EQ(read_axis("parallelism.tensor=1").key, "parallelism.tensor");
  EXPECT_THAT(axis_values("parallelism.tensor=8, 2,4"), ElementsAre("8", "2", "4"));
  EXPECT_THAT(axis_values("recompute=none,full"), ElementsAre("none", "full"));
  EXPECT_THAT(axis_values("parallelism.sequence=true,false"), ElementsAre("true", "false"));
  EXPECT_THAT(axis_values("model=gpt3-175b,./own.yaml"), ElementsAre("gpt3-175b", "./own.yaml"));
}

TEST(Axis, ACommaInBracketsOrQuotesIsPartOfAValue) {
  EXPECT_THAT(axis_values("parallelism.order=[tensor, data],[data, tensor]"),
              ElementsAre("[tensor, data]", "[data, tensor]"));
  EXPECT_THAT(axis_values("cluster.allocation=\"0-2,5\",node0:0-3"), ElementsAre("0-2,5", "node0:0-3"));
}

TEST(Axis, RangesOfWholeNumbersCountAddOrMultiply) {
  EXPECT_THAT(axis_values("parallelism.tensor=2:5"), ElementsAre("2", "3", "4", "5"));
  EXPECT_THAT(axis_values("parallelism.tensor=3:3"), ElementsAre("3"));
  EXPECT_THAT(axis_values("training.sequence=1024:4096:1024"), ElementsAre("1024", "2048", "3072", "4096"));
  EXPECT_THAT(axis_values("training.sequence=1000:4096:1024"), ElementsAre("1000", "2024", "3048", "4072"));
  EXPECT_THAT(axis_values("parallelism.tensor=1:64:*4"), ElementsAre("1", "4", "16", "64"));
  EXPECT_THAT(axis_values("parallelism.tensor=3:50:x4"), ElementsAre("3", "12", "48"));
  EXPECT_THAT(axis_values("parallelism.tensor=1:4:x2,6,10:12"), ElementsAre("1", "2", "4", "6", "10", "11", "12"));
}

TEST(Axis, RangesOfQuantitiesKeepTheUnitOfTheirFirstValue) {
  EXPECT_THAT(axis_values("cluster.nic_bandwidth=100 Gbit/s:800 Gbit/s:*2"),
              ElementsAre("100 Gbit/s", "200 Gbit/s", "400 Gbit/s", "800 Gbit/s"));
  EXPECT_THAT(axis_values("cluster.nic_bandwidth=100 Gbit/s:0.05 TB/s:12500 MB/s"),
              ElementsAre("100 Gbit/s", "200 Gbit/s", "300 Gbit/s", "400 Gbit/s"));
  EXPECT_THAT(axis_values("data_parallel.bucket=0.5GiB:2GiB:512 MiB"), ElementsAre("0.5GiB", "1GiB", "1.5GiB", "2GiB"));
  EXPECT_THAT(axis_values("software.kernel_gap=1 us:4 us:x2"), ElementsAre("1 us", "2 us", "4 us"));
}

TEST(Axis, StepsThatNoDoubleHoldsReachTheirEnd) {
  EXPECT_THAT(axis_values("imperfections.gpu_speed=0.1:0.5:0.1"), ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
}

TEST(Axis, ANumberHasOneText) {
  EXPECT_THAT(axis_values("imperfections.gpu_speed=0.50,1.,0.25"), ElementsAre("0.5", "1", "0.25"));
  EXPECT_THAT(axis_error("imperfections.gpu_speed=0.5,0.50"),
              testing::HasSubstr("found '0.5', expected each value once"));
}

TEST(Axis, WhatIsWrongIsSaidWithWhatIsAllowed) {
  EXPECT_EQ(axis_error("parallelism.tensor"),
            "--axis parallelism.tensor: expected KEY=VALUES, such as parallelism.tensor=1,2,4,8 or "
            "parallelism.tensor=1:8:*2");
  EXPECT_EQ(axis_error("parallelism.tensr=1"),
            "--axis parallelism.tensr=1: found the unknown key 'parallelism.tensr', expected the path of a key such as "
            "'parallelism.tensor'; did you mean 'parallelism.tensor'?");
  EXPECT_EQ(axis_error("parallelism.tensor=1,two"),
            "--axis parallelism.tensor=1,two: parallelism.tensor: found 'two', expected a whole number of at least 1");
  EXPECT_EQ(axis_error("parallelism.tensor=1,,2"),
            "--axis parallelism.tensor=1,,2: parallelism.tensor: found no value between commas, expected one (--set "
            "parallelism.tensor= takes a key away)");
  EXPECT_EQ(axis_error("parallelism.tensor=1:4,2"),
            "--axis parallelism.tensor=1:4,2: parallelism.tensor: found '2', expected each value once");
  EXPECT_EQ(axis_error("parallelism.tensor=8:1"),
            "--axis parallelism.tensor=8:1: parallelism.tensor: found '8:1', expected the smaller end first");
  EXPECT_EQ(axis_error("training.frozen_layers=0:8:*2"),
            "--axis training.frozen_layers=0:8:*2: training.frozen_layers: found '0:8:*2', expected a step, or another "
            "first value: 0 times anything is 0");
  EXPECT_EQ(axis_error("cluster.nic_bandwidth=1 GB/s:4 GB/s"),
            "--axis cluster.nic_bandwidth=1 GB/s:4 GB/s: cluster.nic_bandwidth: found '1 GB/s:4 GB/s', expected a step "
            "or a factor behind it, such as 1 GB/s:4 GB/s:*2");
  EXPECT_EQ(axis_error("parallelism.tensor=1:2:3:4"),
            "--axis parallelism.tensor=1:2:3:4: parallelism.tensor: found '1:2:3:4', expected FROM:TO, FROM:TO:STEP or "
            "FROM:TO:*FACTOR");
  EXPECT_THAT(axis_error("parallelism.tensor=1:8:*1"), testing::HasSubstr("found '1', expected"));
  EXPECT_THAT(axis_error("parallelism.tensor=1:8:0"), testing::HasSubstr("found '0', expected"));
  EXPECT_THAT(axis_error("training.global_batch=1:100000"), testing::HasSubstr("found more than 10000 values"));
}

}  // namespace
}  // namespace stepcast::app
