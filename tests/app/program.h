#pragma once

#include <string>

namespace stepcast::app {

struct Outcome {
  int status = 0;
  std::string out, err;
};

/// Runs the built program with `arguments` (shell words) in folder `cwd`; `environment` are settings such as "A=b". It
/// sees no configs but the library's and those that these name, and says nothing of how far it is.
Outcome run_program(const std::string& arguments, const std::string& cwd = STEPCAST_SOURCE_DIR,
                    const std::string& environment = "");

/// The same with another program.
Outcome run_other(const std::string& program, const std::string& arguments, const std::string& cwd,
                  const std::string& environment = "");

std::string read_text(const std::string& path);

/// Compares with a golden file; with STEPCAST_UPDATE_GOLDEN set, rewrites it instead.
void expect_golden(const std::string& path, const std::string& actual);

}  // namespace stepcast::app
