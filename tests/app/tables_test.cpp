// Exit statuses of runs tables: a row that fails stands beside the others, a table of nothing else is a failure.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

constexpr const char* kGood = "llama3-8b,dgx-h100,8,1,4096,1 s\n";
constexpr const char* kBad = "llama3-8b,dgx-h100,8,one,4096,1 s\n";

std::string table(const std::string& name, const std::string& rows) {
  const std::string file = testing::TempDir() + name + ".csv";
  std::ofstream(file) << "model,cluster.node,training.global_batch,training.micro_batch,training.sequence,"
                         "measured.step_time\n"
                      << rows;
  return file;
}

const std::string kFits = " --set data_parallel.zero=3 --set recompute=full";

TEST(Tables, SomeRowsThatFailAreSaidInTheirPlace) {
  const std::string some = table("some", std::string(kBad) + kGood);
  for (const std::string command : {"run ", "validate "}) {
    const Outcome outcome = run_program(command + some + kFits);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("found 'one', expected a whole number"), std::string::npos) << outcome.out;
  }
}

TEST(Tables, ATableOfRowsThatAllFailIsAFailure) {
  const std::string none = table("none", std::string(kBad) + kBad);
  for (const std::string command : {"run ", "validate "})
    for (const std::string format : {"table", "json", "csv"}) {
      const Outcome outcome = run_program(command + none + " --format " + format);
      EXPECT_EQ(outcome.status, 1);
      EXPECT_EQ(outcome.err, "none: no row could be run\n");
      EXPECT_NE(outcome.out.find("found 'one', expected a whole number"), std::string::npos) << outcome.out;
    }
}

TEST(Tables, OneThatFailsAmongOthersIsNamed) {
  const std::string none = table("none", kBad), all = table("all", kGood);
  for (const std::string command : {"run ", "validate "}) {
    const Outcome outcome = run_program(command + all + " " + none + kFits);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "none: no row could be run\n");
    EXPECT_NE(outcome.out.find("all:2"), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace stepcast::app
