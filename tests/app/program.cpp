#include "tests/app/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/sanitized.h"

namespace stepcast::app {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome run_program(const std::string& arguments, const std::string& cwd, const std::string& environment) {
  return run_other(STEPCAST_PROGRAM, arguments, cwd, environment);
}

Outcome run_other(const std::string& program, const std::string& arguments, const std::string& cwd,
                  const std::string& environment) {
  const std::string base = testing::TempDir() + "stepcast-" + std::to_string(getpid());
  const std::string out = base + ".out", err = base + ".err";
  // With sanitizers: what a run of the program leaks the scenarios' runs find (scripts/test.sh), a third of each here.
  const std::string leaks = test::kSanitized ? "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\" " : "";
  const std::string command = "cd '" + cwd + "' && STEPCAST_CONFIGS= XDG_CONFIG_HOME=/nowhere STEPCAST_PROGRESS=none " +
                              leaks + environment + " '" + program + "' " + arguments + " >'" + out + "' 2>'" + err +
                              "'";
  const int status = std::system(command.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return outcome;
}

void expect_golden(const std::string& path, const std::string& actual) {
  if (std::getenv("STEPCAST_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; STEPCAST_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(actual, read_text(path)) << path;
}

}  // namespace stepcast::app
