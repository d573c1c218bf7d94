#include "calibrate/measure/host/rank_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace stepcast::measure {
namespace {

using testing::StartsWith;

/// What a team of four complains of; `failed` counts the ranks that did not come to their end.
std::string problem_of(
    const std::function<void(RankTeam&, std::size_t)>& function, int& failed,
    std::function<double()> now = [] { return 0.0; }) {
  RankTeam team({8, 9, 10, 11}, "all_reduce nvls Simple", 60, std::move(now));
  std::atomic<int> count = 0;
  std::string problem;
  try {
    team.run([&](std::size_t rank) { function(team, rank); }, [&](std::size_t) { ++count; });
  } catch (const CaseFailed& error) {
    problem = error.what();
  }
  failed = count;
  return problem;
}

TEST(RankTeam, RanksThatAllComeToTheirEndMeetAsOftenAsTheyLike) {
  int failed = -1;
  std::atomic<int> before = 0;
  EXPECT_EQ(problem_of(
                [&](RankTeam& team, std::size_t rank) {
                  for (int i = 1; i <= 50; ++i) {
                    ++before;
                    team.meet(rank);
                    EXPECT_GE(before, 4 * i);
                    team.meet(rank);
                  }
                },
                failed),
            "");
  EXPECT_EQ(failed, 0);
}

TEST(RankTeam, AnErrorOnOneRankEndsTheWaitOfTheOthersAndNamesRankAndCase) {
  for (const bool in_meeting : {true, false}) {
    int failed = 0;
    const std::string problem = problem_of(
        [&](RankTeam& team, std::size_t rank) {
          team.does(rank, "the first call, of 8 bytes");
          if (rank == 2) throw std::runtime_error("ncclAllReduce on GPU 2: invalid usage");
          if (in_meeting) {
            team.meet(rank);
          } else {
            team.wait_until(rank, [] { return false; });  // a kernel that waits for rank 2
          }
        },
        failed);
    EXPECT_EQ(problem,
              "all_reduce nvls Simple: rank 10 in the first call, of 8 bytes: ncclAllReduce on GPU 2: invalid usage");
    EXPECT_EQ(failed, 4);  // each aborts its own communicator
  }
}

TEST(RankTeam, WhatTakesTooLongFailsWithTheRankThatNoticed) {
  int failed = 0;
  std::atomic<int> clock = 0;
  const std::string problem = problem_of(
      [&](RankTeam& team, std::size_t rank) {
        team.does(rank, "timed calls");
        team.wait_until(rank, [] { return false; });
      },
      failed, [&] { return static_cast<double>(clock++); });
  EXPECT_THAT(problem, StartsWith("all_reduce nvls Simple: rank "));
  EXPECT_THAT(problem, testing::EndsWith(" in timed calls: not done after 60 s"));
  EXPECT_EQ(failed, 4);
}

}  // namespace
}  // namespace stepcast::measure
