// docs/sweep.md: each command that it shows does what it says, and the first one prints what stands below it.
// STEPCAST_UPDATE_GOLDEN=1 app_tests --gtest_filter='SweepPage*' rewrites that.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

TEST(SweepPage, ItsCommandsRunAndPrintWhatItSays) {
  LEFT_TO_RELEASE();
  const fs::path folder = fs::temp_directory_path() / ("stepcast-sweep-page-" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::create_directory_symlink(STEPCAST_SOURCE_DIR "/scenarios", folder / "scenarios");
  const std::string start = "    scripts/stepcast ";
  std::vector<std::string> printed;
  std::istringstream page(read_text(STEPCAST_SOURCE_DIR "/docs/sweep.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(start)) continue;
    const Outcome outcome = run_program(line.substr(start.size()), folder.string());
    EXPECT_EQ(outcome.status, 0) << line << '\n' << outcome.err;
    printed.push_back(outcome.out);
  }
  ASSERT_EQ(printed.size(), 9u);
  std::string block = "\n";
  std::istringstream lines(printed.front());
  for (std::string line; std::getline(lines, line);) block += line.empty() ? "\n" : "    " + line + "\n";
  expect_block("docs/sweep.md", "sweep", block + "\n");
  for (const char* const file : {"rows.csv", "rows.svg", "merged.csv", "network.svg"})
    EXPECT_GT(fs::file_size(folder / file), 500u) << file;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stepcast::app
