// Exit statuses of sweeps (runs tables, folders): what fails stands beside the others, and is a failure.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

constexpr const char* kGood = "llama3-8b,dgx-h100,8,1,4096,1 s\n";
constexpr const char* kBad = "llama3-8b,dgx-h100,8,one,4096,1 s\n";

std::string table_file(const std::string& name, const std::string& rows) {
  const std::string file = testing::TempDir() + name + ".csv";
  std::ofstream(file) << "model,cluster.node,training.global_batch,training.micro_batch,training.sequence,"
                         "measured.step_time\n"
                      << rows;
  return file;
}

const std::string kFits = " --set data_parallel.zero=3 --set recompute=full";

TEST(Tables, SomeRowsThatFailAreSaidInTheirPlaceAndAreAFailure) {
  const std::string some = table_file("some", std::string(kGood) + kBad + kBad);
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
  const std::string none = table_file("none", std::string(kBad) + kBad);
  for (const std::string command : {"run ", "validate "})
    for (const std::string format : {"table", "json", "csv"}) {
      const Outcome outcome = run_program(command + none + " --format " + format);
      EXPECT_EQ(outcome.status, 1);
      EXPECT_TRUE(outcome.err.starts_with("2 of 2 rows could not be run; the first: ")) << outcome.err;
      EXPECT_NE(outcome.out.find("found 'one', expected a whole number"), std::string::npos) << outcome.out;
    }
}

TEST(Tables, ARowThatFailsWinsOverAPlanThatDoesNotFit) {
  EXPECT_EQ(run_program("run " + table_file("tight", kGood)).status, 3);
  EXPECT_EQ(run_program("run " + table_file("tight-and-bad", std::string(kGood) + kBad)).status, 1);
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
  std::filesystem::copy(table_file("good", kGood), folder / "good.csv");
  for (const std::string command : {"run ", "validate "}) {
    const Outcome outcome = run_program(command + "stepcast-folder" + kFits, testing::TempDir());
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err,
              "5 of 6 rows could not be run; the first: stepcast-folder/a.yaml:1:7: found a '[' that never ends, "
              "expected a closing ']', or a comma between two items\n");
    for (const std::string row : {"a  ", "b  ", "c  ", "d  ", "e  ", "good:2  "})
      EXPECT_NE(outcome.out.find("\n" + row), std::string::npos) << row << outcome.out;
  }
  EXPECT_EQ(run_program("run stepcast-folder/a.yaml", testing::TempDir()).status, 2);
  EXPECT_EQ(run_program("run stepcast-folder/b.csv", testing::TempDir()).status, 2);
  std::filesystem::remove_all(folder);
}

/// Fits with ZeRO 3 and full recomputation on 8 GPUs; not as it stands.
std::string sweep(const std::string& name) {
  const std::string file = testing::TempDir() + name + ".csv";
  std::ofstream(file) << "name,model,cluster.node,training.global_batch,training.micro_batch,training.sequence,"
                         "data_parallel.zero,recompute,measured.step_time\n"
                         "fits,llama3-8b,dgx-h100,8,1,4096,3,full,\n"
                         "too large,llama3-8b,dgx-h100,8,1,4096,0,none,\n"
                         "it ran,llama3-8b,dgx-h100,8,1,4096,0,none,1 s\n";
  return file;
}

TEST(Tables, RowsThatSurelyDoNotFitAreNotSimulatedUnlessTheyAreMeasured) {
  const std::string file = sweep("sweep");
  const Outcome csv = run_program("run --format csv " + file), json = run_program("run --format json " + file),
                all = run_program("run --simulate all --format csv " + file),
                none = run_program("run --simulate none --format csv " + file);
  for (const Outcome* each : {&csv, &json, &all, &none}) EXPECT_EQ(each->status, 3) << each->err;
  const auto row = [](const Outcome& outcome, const std::string& name) {
    const std::size_t at = outcome.out.find("\n" + name + ",") + 1;
    return outcome.out.substr(at, outcome.out.find('\n', at) - at);
  };
  EXPECT_EQ(row(csv, "fits"), row(all, "fits"));
  EXPECT_EQ(row(csv, "it ran"), row(all, "it ran"));
  EXPECT_TRUE(row(csv, "too large").starts_with("too large,8,,,,,,")) << row(csv, "too large");
  EXPECT_NE(row(csv, "too large").find("try --set"), std::string::npos);
  EXPECT_FALSE(row(all, "too large").starts_with("too large,8,,"));
  for (const char* const name : {"fits", "too large", "it ran"})
    EXPECT_TRUE(row(none, name).starts_with(std::string(name) + ",8,,,,,,"));
  EXPECT_NE(row(none, "too large").find("out of memory: needs "), std::string::npos);
  EXPECT_EQ(row(none, "too large").find("try --set"), std::string::npos) << "nothing was tried";
  EXPECT_NE(json.out.find("\"step_time_s\": null"), std::string::npos);
  const Outcome text = run_program("run --simulate none " + file);
  EXPECT_NE(text.out.find("fits"), std::string::npos);
}

TEST(Tables, WhatIsToBeSimulatedIsOneOfThree) {
  const Outcome some = run_program("run --simulate some " + sweep("some-of-it"));
  EXPECT_EQ(some.status, 2);
  EXPECT_EQ(some.err, "--simulate: found 'some', expected one of all, fitting, none\n");
  const Outcome drawn = run_program("run --simulate none --schedule-diagram " + sweep("drawn"));
  EXPECT_EQ(drawn.status, 2);
  EXPECT_EQ(drawn.err, "--simulate: found 'none' beside a trace or diagram, expected all\n");
  const Outcome detailed = run_program("run --simulate none --detail transfers " + sweep("detailed"));
  EXPECT_EQ(detailed.err, "--simulate: found 'none' beside --detail transfers, expected all or fitting\n");
}

}  // namespace
}  // namespace stepcast::app
