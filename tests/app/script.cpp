#include "tests/app/script.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stepcast::app {

Outcome run_script(const std::string& script, const std::string& cwd) {
  const std::string base = testing::TempDir() + "stepcast-script-" + std::to_string(getpid());
  const std::string file = base + ".bash", out = base + ".out", err = base + ".err";
  std::ofstream(file) << script << '\n';
  const int status = std::system(
      ("cd '" + cwd + "' && stepcast='" STEPCAST_PROGRAM "' bash '" + file + "' >'" + out + "' 2>'" + err + "'")
          .c_str());
  const Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  for (const std::string& each : {file, out, err}) std::filesystem::remove(each);
  return outcome;
}

}  // namespace stepcast::app
