#include "tests/search/layouts/solver.h"

#ifdef STEPCAST_HAS_CBC
#include "app/cbc_module/solve_program.h"
#endif

namespace stepcast::search {

ProgramSolver tested_solver() {
#ifdef STEPCAST_HAS_CBC
  return stepcast_solve_program;
#else
  return nullptr;
#endif
}

}  // namespace stepcast::search
