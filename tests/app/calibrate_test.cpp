// `stepcast calibrate` on bundles of a machine whose constants are known (tests/calibrate/planted.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/calibrate/planted.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using calibrate::BundleFile;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

class Calibrate : public testing::Test {
 protected:
  Calibrate() : folder_(fs::temp_directory_path() / ("stepcast-calibrate-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Calibrate() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::string bundle(const std::vector<BundleFile>& files, const std::string& name = "bundle") {
    fs::create_directories(folder_ / name);
    for (const BundleFile& each : files) std::ofstream(folder_ / name / each.name, std::ios::binary) << each.text;
    return file(name);
  }
  std::string bundle() { return bundle(calibrate::planted_bundle(calibrate::planted(), 1)); }

 private:
  fs::path folder_;
};

const std::string kGolden = STEPCAST_SOURCE_DIR "/tests/golden/calibrate";

TEST_F(Calibrate, ReportAndProfileOfABundle) {
  const Outcome told = run_program("calibrate --bundle " + bundle() + " --out " + file("p.yaml"));
  ASSERT_EQ(told.status, 0) << told.err;
  expect_golden(kGolden + "/report.txt", told.out);
  expect_golden(kGolden + "/profile.yaml", read_text(file("p.yaml")));
}

TEST_F(Calibrate, TheSameBundleGivesTheSameBytes) {
  const std::string words = "calibrate --bundle " + bundle() + " --format csv --plot " + file("r.svg") + " --out ";
  ASSERT_EQ(run_program(words + file("a.yaml")).status, 0);
  const std::string drawn = read_text(file("r.svg"));
  const std::string packed = file("b.tar.gz");
  ASSERT_EQ(std::system(("cd '" + file("") + "' && tar czf b.tar.gz bundle").c_str()), 0);
  // On one core, from an archive, from another folder.
  const std::string command = "cd '" + file("") + "' && taskset -c 0 '" STEPCAST_PROGRAM "' calibrate --bundle '" +
                              packed + "' --format csv --plot r.svg --out b.yaml >b.csv";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_text(file("a.yaml")), read_text(file("b.yaml")));
  EXPECT_EQ(drawn, read_text(file("r.svg")));
  EXPECT_EQ(run_program(words + file("a.yaml")).out, read_text(file("b.csv")));
}

TEST_F(Calibrate, TheProfileIsOneThatRunTakes) {
  ASSERT_EQ(run_program("calibrate --bundle " + bundle() + " --out " + file("p.yaml")).status, 0);
  std::ofstream(file("s.yaml")) << "cluster: {node: dgx-h200, nodes: 1}\n"
                                   "model: {family: gpt, layers: 8, hidden: 2048, heads: 16, vocab: 51200}\n"
                                   "training: {global_batch: 32, micro_batch: 1, sequence: 1024}\n";
  const auto step = [&](const std::string& words) {
    const Outcome told = run_program("run " + file("s.yaml") + " --format json " + words);
    EXPECT_EQ(told.status, 0) << told.err;
    return nlohmann::json::parse(told.out)["results"][0]["step_time_s"].get<double>();
  };
  const double plain = step(""), profiled = step("--profile " + file("p.yaml"));
  EXPECT_NE(plain, profiled);
  EXPECT_EQ(profiled, step("--set profile=" + file("p.yaml")));
  std::ofstream(file("s.yaml"), std::ios::app) << "profile: p.yaml\n";
  EXPECT_EQ(profiled, step(""));

  const Outcome other = run_program("run scenarios/quickstart.yaml --profile " + file("p.yaml"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("found a profile of the GPU h200-sxm, expected one of the cluster's, "));
}

TEST_F(Calibrate, JsonAndCsvHoldEveryRow) {
  const Outcome json = run_program("calibrate --format json --bundle " + bundle());
  ASSERT_EQ(json.status, 0) << json.err;
  const auto all = nlohmann::json::parse(json.out);
  expect_schema(results_schema("calibrate"), all, "calibrate");
  EXPECT_EQ(all["gpu"], "h200-sxm");
  EXPECT_EQ(all["run"], "r1");
  std::size_t rows = 0;
  for (const auto& model : all["models"]) {
    rows += model["rows"].get<std::size_t>();
    for (const auto& constant : model["constants"]) {
      if (!constant["identified"].get<bool>()) continue;
      EXPECT_LE(constant["low"].get<double>(), constant["value"].get<double>()) << constant;
      EXPECT_GE(constant["high"].get<double>(), constant["value"].get<double>()) << constant;
    }
  }
  EXPECT_EQ(all["rows"].size(), rows);
  for (const auto& row : all["rows"]) {
    EXPECT_NEAR(row["error"].get<double>(), row["predicted_s"].get<double>() / row["measured_s"].get<double>() - 1,
                1e-9);
  }
  const Outcome csv = run_program("calibrate --format csv --bundle " + file("bundle"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv.out, '\n')), rows + 1);
  EXPECT_THAT(csv.out, StartsWith("model,place,what,measured_s,predicted_s,held_out_s,error\nmemory,kernels.csv:"));
}

TEST_F(Calibrate, FitsCollectivesWhereItIsToldHowTheGpusAreJoined) {
  LEFT_TO_RELEASE();
  const Outcome timed = run_program(
      "collective --node dgx-h200 --software nccl-h100 --op all_reduce --algorithm ring --sizes 8B:1GiB --format csv "
      "--set transport.nvlink_efficiency=0.8");
  ASSERT_EQ(timed.status, 0) << timed.err;
  std::vector<std::string> rows;
  std::istringstream lines(timed.out);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    rows.push_back(fmt::format("all_reduce,ring,auto,8,1,0 1 2 3 4 5 6 7,{},sum,0,100,{},{},{},0", cells.at(4),
                               cells.at(5), cells.at(5), cells.at(5)));
  }
  std::vector<BundleFile> files = calibrate::planted_bundle(calibrate::planted(), 1);
  files[0].text = calibrate::measured_text("key,value", calibrate::machine_rows(8));
  files.push_back({"collectives.csv", calibrate::measured_text(calibrate::kCollectiveHeader, rows)});
  const std::string words = "calibrate --bundle " + bundle(files) + " --out " + file("p.yaml");
  const Outcome alone = run_program(words);
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("collectives: " + std::to_string(rows.size()) +
                                   " rows left out: --node or --cluster says how the GPUs are joined\n"));
  const Outcome told = run_program(words + " --node dgx-h200");
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, ContainsRegex("software.transport.nvlink_efficiency +0\\.8[0-3]"));
  EXPECT_THAT(told.out, ContainsRegex("software.transport.pcie_step .*not told: no point depends on it"));
  EXPECT_THAT(read_text(file("p.yaml")),
              HasSubstr("  transport:\n    as_nccl_picks: true  # not told: kept as it was\n    network_of_links: true "
                        " # not told: kept as it was\n    channels: 24  # not told: kept as it was\n"));
}

TEST_F(Calibrate, SaysInOneLineWhatIsMissingToMeasure) {
  setenv("STEPCAST_MEASURE", file("none").c_str(), 1);
  const Outcome told = run_program("calibrate --out " + file("p.yaml"));
  unsetenv("STEPCAST_MEASURE");
  EXPECT_EQ(told.status, 4);
  EXPECT_EQ(told.out, "");
  EXPECT_THAT(told.err, StartsWith("stepcast calibrate: this machine cannot measure: no measuring program"));
  EXPECT_EQ(std::ranges::count(told.err, '\n'), 1);
  EXPECT_FALSE(fs::exists(file("p.yaml")));
}

TEST_F(Calibrate, RunsTheMeasuringProgramAndFitsWhatItWrote) {
  // Stands in for the program: hands over the bundle of the planted machine.
  std::ofstream(file("program")) << "#!/bin/sh\n[ \"$1\" = --out ] && cp -r '" + bundle() + "' \"$2\"\n";
  chmod(file("program").c_str(), 0700);
  setenv("STEPCAST_MEASURE", file("program").c_str(), 1);
  const Outcome told = run_program("calibrate --out " + file("mine.yaml"));
  std::ofstream(file("program")) << "#!/bin/sh\nexit 7\n";
  const Outcome failed = run_program("calibrate --out " + file("other.yaml"));
  unsetenv("STEPCAST_MEASURE");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_TRUE(fs::exists(file("mine.bundle/machine.csv")));
  EXPECT_EQ(told.out, read_text(kGolden + "/report.txt"));
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.err, HasSubstr(file("program") + ": exit status 7"));
}

TEST_F(Calibrate, FindsTheGpuOrAsks) {
  const auto error = [&](const std::string& key, const std::string& value, const std::string& words = "") {
    std::vector<BundleFile> files = calibrate::planted_bundle(calibrate::planted(), 1);
    std::vector<std::string> rows = calibrate::machine_rows(1);
    for (std::string& row : rows)
      if (row.starts_with(key + ",")) row = key + "," + value;
    files[0].text = calibrate::measured_text("key,value", rows);
    const Outcome told = run_program("calibrate --bundle " + bundle(files) + words);
    EXPECT_EQ(told.status, 2);
    return told.err;
  };
  EXPECT_EQ(error("sms", "131"),
            "--gpu: missing: NVIDIA H200, compute capability 90, 131 SMs may be none of configs/gpus/\n");
  EXPECT_EQ(error("sms", "131", " --gpu h200-sxm"),
            "--gpu: found 'h200-sxm', but the bundle is of NVIDIA H200, compute capability 90, 131 SMs\n");
  EXPECT_THAT(error("run", "", " --gpu h20-sxm"), HasSubstr("h200-sxm"));  // nearest name
}

TEST_F(Calibrate, ABundleThatIsNotThereIsToldAsOne) {
  const Outcome told = run_program("calibrate --bundle " + file("none") + " --out " + file("p.yaml"));
  EXPECT_EQ(told.status, 2);
  EXPECT_EQ(told.err, file("none") + ": no such folder or archive\n");
}

TEST_F(Calibrate, ABundleThatIsCutOffIsRefused) {
  std::vector<BundleFile> files = calibrate::planted_bundle(calibrate::planted(), 1);
  files[1].text.resize(files[1].text.size() / 2);
  const Outcome told = run_program("calibrate --bundle " + bundle(files) + " --out " + file("p.yaml"));
  EXPECT_EQ(told.status, 2);
  EXPECT_THAT(told.err, ContainsRegex("bundle/kernels.csv:[0-9]+: "));
  EXPECT_FALSE(fs::exists(file("p.yaml")));
}

}  // namespace
}  // namespace stepcast::app
