// What `cmake --install` brings, run from where it was put.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

TEST(Installed, TheProgramFindsItsOwnConfigsFromAnyFolder) {
  LEFT_TO_RELEASE();
  const fs::path prefix = fs::path(testing::TempDir()) / "stepcast-installed";
  fs::remove_all(prefix);
  const std::string command =
      "'" STEPCAST_CMAKE "' --install '" STEPCAST_BUILD_DIR "' --prefix '" + prefix.string() + "' >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);

  for (const char* file : {"share/man/man1/stepcast.1", "share/bash-completion/completions/stepcast",
                           "share/zsh/site-functions/_stepcast", "share/fish/vendor_completions.d/stepcast.fish",
                           "share/stepcast/scenarios/quickstart.yaml", "share/doc/stepcast/README.md"})
    EXPECT_TRUE(fs::exists(prefix / file)) << file;

  const std::string program = (prefix / "bin/stepcast").string(), elsewhere = testing::TempDir();
  const std::string quickstart = (prefix / "share/stepcast/scenarios/quickstart.yaml").string();
  const Outcome run = run_other(program, "run " + quickstart + " --format csv", elsewhere);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, run_program("run scenarios/quickstart.yaml --format csv").out);

  // The module that draws is found below the prefix too.
  const Outcome drawing = run_other(program, "run " + quickstart + " --schedule-diagram=drawing.png", prefix.string());
  EXPECT_EQ(drawing.status, 0) << drawing.err;
  EXPECT_TRUE(fs::exists(prefix / "drawing.png"));
  fs::remove(prefix / "lib/stepcast/stepcast-png.so");
  const Outcome without = run_other(program, "run " + quickstart + " --schedule-diagram=other.png", prefix.string());
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err,
              testing::AllOf(testing::HasSubstr("PNG drawings need a part of stepcast that cannot be loaded"),
                             testing::HasSubstr("lib/stepcast/stepcast-png.so")));
  EXPECT_FALSE(fs::exists(prefix / "other.png"));

  // So is the one that unpacks.
  const std::string kineto = STEPCAST_SOURCE_DIR "/tests/app/logs/kineto.json";
  ASSERT_EQ(std::system(("gzip -c '" + kineto + "' >'" + (prefix / "t.json.gz").string() + "'").c_str()), 0);
  const Outcome unpacked = run_other(program, "calibrate --import t.json.gz", prefix.string());
  EXPECT_EQ(unpacked.status, 0) << unpacked.err;
  EXPECT_EQ(unpacked.out, run_program("calibrate --import " + kineto).out);

  // That which speaks MPI is asked for where MPI's launcher has started several processes, and then alone.
  fs::remove(prefix / "lib/stepcast/stepcast-mpi.so");
  const std::string sweep = "sweep " + quickstart + " --axis training.global_batch=64,128 --simulate none";
  const Outcome one_of_two = run_other(program, sweep, prefix.string(), "OMPI_COMM_WORLD_SIZE=2");
  EXPECT_EQ(one_of_two.status, 2);
  EXPECT_THAT(one_of_two.err, testing::AllOf(testing::HasSubstr("lib/stepcast/stepcast-mpi.so"),
                                             testing::HasSubstr("or --shard I/N for each")));
  EXPECT_EQ(run_other(program, sweep, prefix.string(), "OMPI_COMM_WORLD_SIZE=1").status, 0);

  // Were the source's configs read, the files would not be below the prefix.
  const Outcome list = run_other(program, "list gpus --format csv", "/");
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find((prefix / "share/stepcast/configs/gpus/").string().substr(1)), std::string::npos) << list.out;
  EXPECT_EQ(list.out.find(STEPCAST_SOURCE_DIR "/configs"), std::string::npos) << list.out;
  fs::remove_all(prefix);
}

std::string quoted(const fs::path& path) { return '\'' + path.string() + '\''; }

TEST(Installed, AnotherProjectFindsTheLibraryAndForecasts) {
  if (test::kSanitized) GTEST_SKIP() << "what is linked to it would need the same sanitizer";
  const fs::path folder = fs::path(testing::TempDir()) / "stepcast-library", prefix = folder / "prefix";
  fs::remove_all(folder);
  const std::string cmake = quoted(STEPCAST_CMAKE), build = quoted(folder / "build"), quiet = " >/dev/null";
  ASSERT_EQ(
      std::system((cmake + " --install " + quoted(STEPCAST_BUILD_DIR) + " --prefix " + quoted(prefix) + quiet).c_str()),
      0);
  // The examples as they were installed: nothing of the source tree is used.
  ASSERT_EQ(std::system((cmake + " -S " + quoted(prefix / "share/stepcast/examples") + " -B " + build +
                         " -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=" + quoted(prefix) + quiet)
                            .c_str()),
            0);
  ASSERT_EQ(std::system((cmake + " --build " + build + " --target forecast_one" + quiet).c_str()), 0);
  const std::string example = (folder / "build/forecast_one").string();
  const Outcome lost = run_other(example, "quickstart.yaml", (prefix / "share/stepcast/scenarios").string());
  EXPECT_EQ(lost.status, 2);
  EXPECT_THAT(lost.err,
              testing::HasSubstr("the library's configs are not in share/stepcast/configs beside the program"));
  const Outcome found = run_other(example, "quickstart.yaml cluster.nodes=16 parallelism.data=2",
                                  (prefix / "share/stepcast/scenarios").string(),
                                  "STEPCAST_CONFIGS='" + (prefix / "share/stepcast/configs").string() + "'");
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_TRUE(found.out.starts_with("step_time_s ")) << found.out;
  fs::remove_all(folder);
}

TEST(Installed, TheManualPageNamesEveryCommand) {
  const Outcome page = run_program("man"), help = run_program("--help");
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_TRUE(page.out.starts_with(".TH STEPCAST 1 ")) << page.out.substr(0, 80);
  std::size_t commands = 0;
  for (std::size_t at = help.out.find("\n  "); at != std::string::npos;
       at = help.out.find("\n  ", at + 1), ++commands) {
    const std::string name = help.out.substr(at + 3, help.out.find(' ', at + 3) - at - 3);
    EXPECT_NE(page.out.find(".SS " + name + "\n"), std::string::npos) << name;
  }
  EXPECT_GE(commands, 11u);
  EXPECT_NE(page.out.find("\\-\\-schedule\\-diagram"), std::string::npos);
}

}  // namespace
}  // namespace stepcast::app
