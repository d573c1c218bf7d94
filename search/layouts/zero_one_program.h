#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::search {

/// A linear program of variables between 0 and 1, of which some are whole: the least sum of costs where every row's sum
/// is within its bounds.
struct ZeroOneProgram {
  struct Coefficient {
    std::uint32_t variable = 0;
    double factor = 0;
  };
  struct Constraint {
    std::vector<Coefficient> terms;
    double least = 0, most = 0;
  };
  std::vector<double> costs;  ///< of each variable
  std::vector<bool> whole;    ///< whether it is
  std::vector<Constraint> rows;
};

/// Solves such a program. `values`: of the variables; empty where none satisfy the rows. Returns whether that went
/// well; if not, `error` is what the solver says. The same program has the same answer.
using ProgramSolver = bool (*)(const ZeroOneProgram& program, std::vector<double>& values, std::string& error);

}  // namespace stepcast::search
