#pragma once

#include "search/layouts/zero_one_program.h"

namespace stepcast::search {

/// The program's own solver; nullptr where it was built without one.
ProgramSolver tested_solver();

}  // namespace stepcast::search
