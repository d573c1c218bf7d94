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
  EXPECT_EQ(o.suites.size(), 6u);
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

TEST(MeasureOptions, AProcessOfOneSuiteIsToldWhatItsSupervisorWasTold) {
  const Options all = parse_options({"--out", "b", "--quick", "--groups", "0,1/0,4", "--time-limit", "60", "--largest",
                                     "4096", "--sustained", "12.5"});
  const std::vector<std::string> words = words_of_suite(all, "p", "nccl", 8, {"nvls", "Simple"});
  const Options one = parse_options({words.begin() + 1, words.end()});
  EXPECT_EQ(one.suites, std::set<std::string>{"nccl"});
  EXPECT_TRUE(one.unwatched && one.alone && one.quick && one.nccl_forced);
  EXPECT_EQ(one.groups, all.groups);
  EXPECT_EQ(one.gpus, 8);
  EXPECT_EQ(one.largest, 4096);
  EXPECT_EQ(one.time_limit, 60);
  EXPECT_EQ(one.nccl, (NcclSetting{"nvls", "Simple"}));
  const std::vector<std::string> sustained = words_of_suite(all, "p", "sustained", 1, {});
  EXPECT_EQ(parse_options({sustained.begin() + 1, sustained.end()}).sustained_s, 12.5);
}

}  // namespace
}  // namespace stepcast::measure
