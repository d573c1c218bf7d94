// `stepcast calibrate --import` on what other programs log.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

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
  // Packed, as the profiler's handler writes it, whatever it is called.
  ASSERT_EQ(std::system(("gzip -c '" + kLogs + "kineto.json' >'" + file("t.json.gz") + "'").c_str()), 0);
  EXPECT_EQ(run_program("calibrate --import " + file("t.json.gz")).out, told.out);
  EXPECT_EQ(run_program("calibrate --import - <" + file("t.json.gz")).out, told.out);
  const auto json = nlohmann::json::parse(run_program("calibrate --import " + kLogs + "kineto.json --format json").out);
  expect_schema(results_schema("import"), json, "import");
  EXPECT_EQ(json["devices"].size(), 2u);
}

TEST_F(Import, WhatUnpacksIsLoadedForAPackedLogAlone) {
  fs::copy_file(STEPCAST_PROGRAM, file("stepcast"));  // without the folder of modules
  const auto run_here = [&](const std::string& words, const std::string& environment = "") {
    return run_other("./stepcast", words, file(""), environment);
  };
  const Outcome loaded = run_here("--version", "LD_TRACE_LOADED_OBJECTS=1");  // the loader lists them instead
  EXPECT_THAT(loaded.out, testing::AllOf(HasSubstr("libc.so"), testing::Not(HasSubstr("libarchive"))));

  const std::string import = "calibrate --import ";
  const Outcome plain = run_here(import + kLogs + "kineto.json");
  EXPECT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(std::system(("gzip -c '" + kLogs + "kineto.json' >'" + file("t.json.gz") + "'").c_str()), 0);
  std::ofstream(file("b.tar")) << "an archive\n";
  fs::create_directories(file("lib/stepcast"));
  const std::string module = fs::canonical(file("lib/stepcast")).string() + "/stepcast-archive.so";
  for (const std::string why : {"cannot open shared object file: No such file or directory", "file too short"}) {
    for (const auto& [words, shown] : {std::pair{import + "t.json.gz", "t.json.gz"},
                                       {import + "t.json.gz --out k.csv", "t.json.gz"},
                                       {import + "- <t.json.gz", "/dev/stdin"},
                                       {"calibrate --bundle b.tar --out k.csv", "b.tar"}}) {
      const Outcome refused = run_here(words);
      EXPECT_EQ(refused.status, 1);
      EXPECT_EQ(refused.out, "");
      EXPECT_EQ(refused.err,
                fmt::format("stepcast: {}: unpacking needs a part of stepcast that cannot be loaded ({}: {}); a log "
                            "that is unpacked already, or a bundle that is a folder, needs none\n",
                            shown, module, why));
      EXPECT_FALSE(fs::exists(file("k.csv")));
    }
    std::ofstream(module) << "no module";
  }
  fs::copy_file(fs::path(STEPCAST_PROGRAM).parent_path() / "lib/stepcast/stepcast-archive.so", module,
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(run_here(import + "t.json.gz").out, plain.out);
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
