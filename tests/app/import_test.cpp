// `stepcast calibrate --import` on what other programs log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"
#include "tests/app/schema.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kLogs = STEPCAST_SOURCE_DIR "/tests/app/logs/";
const std::string kGoldenImports = STEPCAST_SOURCE_DIR "/tests/golden/calibrate/";

class Import : public testing::Test {
 protected:
  Import() { fs::create_directories(folder_); }
  ~Import() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  const fs::path folder_ = fs::temp_directory_path() / ("stepcast-import-" + std::to_string(getpid()));
};

TEST_F(Import, ATraceOfThePyTorchProfilerBecomesATableOfKernels) {
  const Outcome told = run_program("calibrate --import " + kLogs + "kineto.json --out " + file("k.csv"));
  ASSERT_EQ(told.status, 0) << told.err;
  expect_golden(kGoldenImports + "kineto.txt", told.out);
  expect_golden(kGoldenImports + "kineto.csv", read_text(file("k.csv")));
  EXPECT_EQ(run_program("calibrate --import " + kLogs + "kineto.json --format csv").out, read_text(file("k.csv")));
  // Packed, as the profiler's handler writes it.
  ASSERT_EQ(std::system(("gzip -c '" + kLogs + "kineto.json' >'" + file("t.json.gz") + "'").c_str()), 0);
  EXPECT_EQ(run_program("calibrate --import " + file("t.json.gz")).out, told.out);
  const auto json = nlohmann::json::parse(run_program("calibrate --import " + kLogs + "kineto.json --format json").out);
  expect_schema(results_schema("import"), json, "import");
  EXPECT_EQ(json["devices"].size(), 2u);
}

TEST_F(Import, WhatNvidiaSmiPrintedBecomesFacts) {
  const Outcome told = run_program("calibrate --import " + kLogs + "nvidia-smi-q.txt --format csv");
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out,
            "key,value\ngpus,1\ndriver,550.54.15\ncuda,12.4\ndate,Sat Nov 21 10:00:00 2026\ngpu_name,NVIDIA H200\n"
            "memory_bytes,150754820096\nclock_sm_mhz_max,1980\nclock_mem_mhz_max,3201\npower_limit_w,700.00\necc,on\n"
            "pci_device,0x2335\npcie_generation,5\npcie_width,16x\n");
}

TEST_F(Import, SaysWhatItCannotRead) {
  const auto error = [&](const std::string& text) {
    std::ofstream(file("log")) << text;
    const Outcome told = run_program("calibrate --import " + file("log") + " --out " + file("k.csv"));
    EXPECT_EQ(told.status, 2);
    EXPECT_FALSE(fs::exists(file("k.csv")));
    return told.err;
  };
  EXPECT_THAT(error("hello"), HasSubstr("log: expected a trace of the PyTorch profiler (JSON), an export of Nsight"));
  EXPECT_THAT(error(""), HasSubstr("log: expected a trace"));
  EXPECT_THAT(error("{\"traceEvents\": ["), HasSubstr("found no JSON"));
  EXPECT_THAT(error("SQLite format 3" + std::string(100, '\0')), HasSubstr("SQLite"));
  EXPECT_THAT(run_program("calibrate --import " + file("none")).err, HasSubstr("no such file"));
  EXPECT_THAT(run_program("calibrate --import x --bundle y").err,
              HasSubstr("--bundle: found beside --import, which makes nothing of it; expected one of the two"));
}

}  // namespace
}  // namespace stepcast::app
