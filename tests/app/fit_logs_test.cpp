// `stepcast fit LOG...` on logs that the model itself wrote: what made them must come back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

class FitLogs : public testing::Test {
 protected:
  FitLogs() : folder_(fs::temp_directory_path() / ("stepcast-fit-logs-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FitLogs() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// A log as all_reduce_perf prints it, its times those that the program predicts with `settings`.
  std::string log(const std::string& name, const std::string& settings,
                  const std::string& program = "all_reduce_perf") {
    const Outcome told = run_program("collective --node dgx-a100-80gb --gpus 4 --software nccl-a100 --sizes 8B:4GiB " +
                                     settings + " --format csv");
    EXPECT_EQ(told.status, 0) << told.err;
    std::ofstream out(file(name));
    if (!program.empty()) out << "# " << program << " -b 8 -e 4G -f 2 -g 1\n";
    out << "#\n# Using devices\n";
    for (int rank = 0; rank < 4; ++rank) {
      out << fmt::format("#  Rank  {} Group  0 Pid   {} on  a device  {} [0x0{}] NVIDIA A100\n", rank, rank, rank,
                         rank);
    }
    out << "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
           "busbw #wrong\n";
    std::istringstream rows(told.out);
    std::string line;
    std::getline(rows, line);
    while (std::getline(rows, line)) {
      std::vector<std::string> cells;
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      const double us = std::stod(cells.at(5)) * 1e6;
      out << fmt::format("{} {} float sum -1 {:.3f} 0 0 0 {:.3f} 0 0 0\n", cells.at(4), std::stoll(cells.at(4)) / 4, us,
                         us);
    }
    out << "# Avg bus bandwidth : 1\n";
    return file(name);
  }

 private:
  fs::path folder_;
};

constexpr const char* kMachine = " --node dgx-a100-80gb --gpus 4 --software nccl-a100";

TEST_F(FitLogs, FindsWhatMadeTheLog) {
  LEFT_TO_RELEASE();
  const std::string settings = "--set transport.nvlink_efficiency=0.8 --set transport.ll128.launch=14us";
  const Outcome fitted = run_program("fit " + log("run.log", settings) + kMachine);
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("name: nccl-a100-fitted\n"));
  EXPECT_THAT(fitted.out, ContainsRegex("nvlink_efficiency: 0\\.(79|80|81)"));
  EXPECT_THAT(fitted.out, ContainsRegex("pcie_step: .*# not told: no point depends on it"));
  EXPECT_THAT(fitted.out, ContainsRegex("Fitted to 1 table of .*run\\.log \\([0-9]+ B\\), on 4 GPUs of dgx-a100-80gb, "
                                        "from nccl-a100: 30 points, median error 0\\.[0-9] %"));
  // The profile is a stack that the program reads.
  std::ofstream(file("mine.yaml")) << fitted.out;
  const Outcome errors =
      run_program("fit " + file("run.log") + " --node dgx-a100-80gb --gpus 4 --check --software " + file("mine.yaml"));
  EXPECT_THAT(errors.out, ContainsRegex("median of all points, held out: [0-2]\\.[0-9]% below 1 MB"));
}

TEST_F(FitLogs, RefusesWhatDoesNotFit) {
  const auto error = [](const std::string& words) {
    const Outcome told = run_program("fit " + words);
    EXPECT_EQ(told.status, 2);
    EXPECT_EQ(told.out, "");
    return told.err;
  };
  const std::string good = log("good.log", "");
  EXPECT_THAT(error(log("silent.log", "", "") + kMachine),
              HasSubstr("silent.log:8: the log does not say which operation this table is of, expected --op"));
  EXPECT_THAT(error(good + " --node dgx-a100-80gb"), HasSubstr("found a table of 4 ranks, expected 8"));
  EXPECT_THAT(error(good),
              HasSubstr("expected a table of multiplies or curves, or logs of nccl-tests and --node or --cluster"));
  const std::string whole = read_text(good);
  const auto written = [&](const std::string& name, const std::string& text) {
    std::ofstream(file(name)) << text;
    return file(name);
  };
  const std::size_t row = whole.find("1024 256");
  EXPECT_THAT(error(written("cut.log", whole.substr(0, row + 24)) + kMachine), ContainsRegex("cut.log:1[0-9]+: "));
  EXPECT_THAT(error(written("twice.log", whole.substr(0, row) + whole.substr(whole.find("512 128"))) + kMachine),
              HasSubstr("found 512 B a second time in one table"));
  const std::size_t header = whole.find("#       size");
  EXPECT_THAT(
      error(written("ends.log", whole + whole.substr(header, whole.find('\n', header) - header + 1)) + kMachine),
      HasSubstr("a table without rows"));
}

}  // namespace
}  // namespace stepcast::app
