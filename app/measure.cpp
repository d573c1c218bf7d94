#include "app/measure.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "stepcast_measure";

bool can_run(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_on_path(const char* name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (const fs::path file = fs::path(rest.substr(0, end)) / name; end > 0 && can_run(file)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

std::optional<fs::path> find_measuring_program() {
  if (const char* const set = std::getenv("STEPCAST_MEASURE"); set != nullptr && *set != '\0') {
    if (can_run(set)) return set;
    return {};
  }
  std::error_code error;
  if (const fs::path here = fs::read_symlink("/proc/self/exe", error); !error) {
    if (const fs::path beside = here.parent_path() / kProgram; can_run(beside)) return beside;
  }
  return find_on_path(kProgram);
}

std::string what_is_missing() {
  std::error_code error;
  std::string missing = "no measuring program (stepcast_measure, built by cmake -S calibrate/measure)";
  if (!find_on_path("nvcc") && !can_run("/usr/local/cuda/bin/nvcc")) missing += ", no nvcc to build it with";
  if (!fs::exists("/dev/nvidia0", error)) missing += ", no NVIDIA GPU";
  return missing;
}

void measure(const fs::path& program, const fs::path& folder) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork: " + std::generic_category().message(errno));
  if (child == 0) {
    execl(program.c_str(), program.c_str(), "--out", folder.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("waitpid: " + std::generic_category().message(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw std::runtime_error(program.string() + ": " +
                           (WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                              : "ended by signal " + std::to_string(WTERMSIG(status))));
}

}  // namespace stepcast::app
