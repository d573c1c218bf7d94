#pragma once

#include <string>

#include "tests/app/program.h"

namespace stepcast::app {

/// Runs a script of bash in `cwd`, where $stepcast is the built program.
Outcome run_script(const std::string& script, const std::string& cwd = STEPCAST_SOURCE_DIR);

}  // namespace stepcast::app
