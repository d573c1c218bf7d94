#pragma once

#include "search/layouts/zero_one_program.h"

/// The one function of the module stepcast-cbc, a shared object of its own: only layouts need CBC, which brings a dozen
/// others. A search::ProgramSolver by branch and cut (Forrest and Lougee-Heimer, "CBC user guide", 2005).
extern "C" bool stepcast_solve_program(const stepcast::search::ZeroOneProgram& program, std::vector<double>& values,
                                       std::string& error);
