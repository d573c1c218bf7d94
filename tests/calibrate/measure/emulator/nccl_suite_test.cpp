#include "calibrate/measure/suites/nccl_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>

#include "nccl.h"

namespace stepcast::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// The suite that measures collectives, on GPUs and with an NCCL that this process stands in for.
class NcclSuite : public testing::Test {
 protected:
  NcclSuite() : folder_(fs::temp_directory_path() / ("stepcast-nccl-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~NcclSuite() override {
    emulator::refuse = nullptr;
    fs::remove_all(folder_);
  }

  std::int64_t measure(const NcclSetting& setting, int gpus = 4) {
    Options options;
    options.out = folder_;
    options.nccl = setting;
    options.nccl_forced = true;
    options.largest = 1024;
    const ProcessGroup alone(true);
    const std::int64_t wrong = run_nccl_suite(options, "r1", alone, gpus, "stand-in");
    finish_nccl_table(options, "r1");
    return wrong;
  }
  std::string text(const std::string& name) const {
    std::ifstream stream(folder_ / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  fs::path folder_;
};

TEST_F(NcclSuite, EveryCollectiveOfEveryGroupIsRightAndTimed) {
  EXPECT_EQ(measure({"ring", "Simple"}), 0);
  const std::string table = text("collectives.csv");
  for (const char* name :
       {"all_reduce,ring,Simple,4,1,0 1 2 3,8,sum,0,20,", "all_gather,ring,Simple,2,1,0 1,32,none,0,20,",
        "reduce_scatter,ring,Simple,3,", "broadcast,ring,Simple,4,", "reduce,ring,Simple,2,1,0 2,"})
    EXPECT_THAT(table, HasSubstr(name));
  // Twenty calls stand between two events, which here are a millisecond apart.
  EXPECT_THAT(table, HasSubstr(",20,5.000000e-05,5.000000e-05,5.000000e-05,0\n"));
  EXPECT_EQ(text("refused.csv"), "");
}

TEST_F(NcclSuite, WhatNvlsCannotDoIsARowEachTheRestGoesOnAndIsNotTriedAgain) {
  std::atomic<int> refusals = 0;
  emulator::refuse = [&](const char* call, int, int ranks, std::size_t) {
    if (ranks > 2 && call != std::string("reduce_scatter")) return ncclSuccess;
    ++refusals;
    return ncclInvalidUsage;
  };
  EXPECT_EQ(measure({"nvls", "Simple"}), 0);
  const std::string refused = text("refused.csv.part") + text("refused.csv"), table = text("collectives.csv");
  EXPECT_THAT(refused, HasSubstr("nccl,all_reduce nvls Simple over 2 ranks (GPUs 0 1),"));
  EXPECT_THAT(refused, HasSubstr("reduce_scatter nvls Simple over 4 ranks (GPUs 0 1 2 3)"));
  EXPECT_THAT(refused, HasSubstr("invalid usage"));
  EXPECT_THAT(table, HasSubstr("all_reduce,nvls,Simple,4,"));
  EXPECT_THAT(table, HasSubstr("all_gather,nvls,Simple,3,"));  // after reduce_scatter over 4 was refused
  EXPECT_THAT(table, Not(HasSubstr("reduce_scatter")));
  EXPECT_EQ(emulator::destroyed_busy(), 0);

  const int before = refusals;
  EXPECT_EQ(measure({"nvls", "Simple"}), 0);
  EXPECT_EQ(refusals, before);
  EXPECT_EQ(text("collectives.csv"), table);
}

TEST_F(NcclSuite, AnErrorOnOneRankLeavesNobodyWaiting) {
  const int aborted = emulator::aborted();
  emulator::refuse = [](const char* call, int rank, int ranks, std::size_t count) {
    return rank == 2 && ranks == 4 && call == std::string("all_reduce") && count >= 32 ? ncclSystemError : ncclSuccess;
  };
  EXPECT_EQ(measure({"ring", "Simple"}), 0);
  EXPECT_THAT(text("refused.csv"),
              HasSubstr("all_reduce ring Simple over 4 ranks (GPUs 0 1 2 3),\"rank 2 in the first call, of 128 bytes: "
                        "ncclAllReduce on GPU "));
  EXPECT_EQ(emulator::aborted() - aborted, 4);  // each by its own thread
  EXPECT_EQ(emulator::destroyed_busy(), 0);
  const std::string table = text("collectives.csv");
  EXPECT_THAT(table, HasSubstr("all_reduce,ring,Simple,4,1,0 1 2 3,32,"));  // sizes before it are kept
  EXPECT_THAT(table, Not(HasSubstr("all_reduce,ring,Simple,4,1,0 1 2 3,128,")));
  EXPECT_THAT(table, HasSubstr("all_gather,ring,Simple,4,"));
}

}  // namespace
}  // namespace stepcast::measure
