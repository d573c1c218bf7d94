// Exit statuses of sweeps (runs tables, folders): what fails stands beside the others, and is a failure.

#include <gtest/gtest.h>

#include <filesystem>
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

TEST(Tables, SomeRowsThatFailAreSaidInTheirPlaceAndAreAFailure) {
  const std::string some = table("some", std::string(kGood) + kBad + kBad);
  const std::string shown = std::filesystem::path(some).string();
  for (const std::string command : {"run ", "validate "}) {
    const Outcome outcome = run_program(command + some + kFits);
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(outcome.err, "2 of 3 rows could not be run; the first: " + shown +
                               ":3:22: training.micro_batch: found 'one', expected a whole number of at least 1\n");
    EXPECT_NE(outcome.out.find("found 'one', expected a whole number"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("some:2"), std::string::npos) << outcome.out;
  }
}

TEST(Tables, ATableOfRowsThatAllFailIsAFailure) {
  const std::string none = table("none", std::string(kBad) + kBad);
  for (const std::string command : {"run ", "validate "})
    for (const std::string format : {"table", "json", "csv"}) {
      const Outcome outcome = run_program(command + none + " --format " + format);
      EXPECT_EQ(outcome.status, 1);
      EXPECT_TRUE(outcome.err.starts_with("2 of 2 rows could not be run; the first: ")) << outcome.err;
      EXPECT_NE(outcome.out.find("found 'one', expected a whole number"), std::string::npos) << outcome.out;
    }
}

TEST(Tables, ARowThatFailsWinsOverAPlanThatDoesNotFit) {
  EXPECT_EQ(run_program("run " + table("tight", kGood)).status, 3);
  EXPECT_EQ(run_program("run " + table("tight-and-bad", std::string(kGood) + kBad)).status, 1);
}

TEST(Tables, AFileOfAFolderThatCannotBeReadLeavesTheOthers) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "stepcast-folder";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.yaml") << "name: [\n";
  std::ofstream(folder / "b.csv") << "model,modle\nx,y\n";
  std::ofstream(folder / "c.csv") << "model\n\"x\n";
  std::ofstream(folder / "d.csv") << "\xff\n";
  std::ofstream(folder / "e.yaml");
  std::filesystem::copy(table("good", kGood), folder / "good.csv");
  for (const std::string command : {"run ", "validate "}) {
    const Outcome outcome = run_program(command + "stepcast-folder" + kFits, testing::TempDir());
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err,
              "5 of 6 rows could not be run; the first: stepcast-folder/a.yaml:1:7: found a '[' that never ends, "
              "expected a closing ']'\n");
    for (const std::string row : {"a  ", "b  ", "c  ", "d  ", "e  ", "good:2  "})
      EXPECT_NE(outcome.out.find("\n" + row), std::string::npos) << row << outcome.out;
  }
  EXPECT_EQ(run_program("run stepcast-folder/a.yaml", testing::TempDir()).status, 2);
  EXPECT_EQ(run_program("run stepcast-folder/b.csv", testing::TempDir()).status, 2);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepcast::app
