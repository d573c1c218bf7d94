#include "calibrate/measure/host/options.h"

#include <gtest/gtest.h>

namespace stepcast::measure {
namespace {

std::string refused(const std::vector<std::string>& words) {
  try {
    parse_options(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MeasureOptions, DefaultsAreEverySuiteOnEveryGpu) {
  const Options o = parse_options({"--out", "b"});
  EXPECT_EQ(o.suites.size(), 5u);
  EXPECT_EQ(o.gpus, 0);
  EXPECT_FALSE(o.quick || o.check || o.alone || o.nccl_forced);
  EXPECT_EQ(o.command, "stepcast_measure --out b");
}

TEST(MeasureOptions, AllAreRead) {
  const Options o = parse_options({"--out", "b", "--suite", "nccl,copies", "--quick", "--alone", "--time-limit", "60",
                                   "--gpus", "4", "--nccl-algorithm", "ring", "--nccl-protocol", "LL"});
  EXPECT_EQ(o.suites, (std::set<std::string>{"nccl", "copies"}));
  EXPECT_TRUE(o.alone);
  EXPECT_EQ(o.time_limit, 60);
  EXPECT_EQ(o.gpus, 4);
  EXPECT_EQ(o.nccl, (NcclSetting{"ring", "LL"}));
  EXPECT_TRUE(o.nccl_forced);
}

TEST(MeasureOptions, GroupsAreListsOfGpus) {
  const Options o = parse_options({"--out", "b", "--groups", "0,4/0,1,4,5"});
  EXPECT_EQ(o.groups, (std::vector<GpuGroup>{{0, 4}, {0, 1, 4, 5}}));
  EXPECT_EQ(o.group_words, "0,4/0,1,4,5");
  for (const char* word : {"", "0,", "0,4/", "4,0", "0,0", "0,64", "0 4", "-1", "a"}) {
    EXPECT_EQ(refused({"--out", "b", "--groups", word}),
              "--groups: found '" + std::string(word) +
                  "', expected groups such as 0,4/0,1,4,5: GPUs from 0 to 63, ascending");
  }
}

TEST(MeasureOptions, MistakesSayWhatIsAllowed) {
  EXPECT_EQ(refused({}), "--out: expected a folder to write to");
  EXPECT_EQ(refused({"--check"}), "accepted");
  EXPECT_EQ(refused({"--list"}), "accepted");
  EXPECT_EQ(refused({"--fast"}), "found '--fast'; --help says what is allowed");
  EXPECT_EQ(refused({"--out"}), "--out: expected a value after it");
  EXPECT_NE(refused({"--out", "b", "--gpus", "two"}).find("--gpus: found 'two', expected a number"), std::string::npos);
  EXPECT_NE(refused({"--out", "b", "--suite", "nccl,"}).find("found ''"), std::string::npos);
  EXPECT_NE(refused({"--out", "b", "--nccl-protocol", "ll"}).find("expected one of auto, LL, LL128, Simple"),
            std::string::npos);
}

}  // namespace
}  // namespace stepcast::measure
