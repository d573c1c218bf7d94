#include "app/cbc_module/solve_program.h"

#include <coin/Cbc_C_Interface.h>

#include <memory>

namespace {

using stepcast::search::ZeroOneProgram;

struct Deleted {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};

/// A program's factors by columns, as CBC loads them.
struct Columns {
  std::vector<CoinBigIndex> begins;
  std::vector<int> rows;
  std::vector<double> factors;
};

Columns columns_of(const ZeroOneProgram& program) {
  Columns out;
  out.begins.assign(program.costs.size() + 1, 0);
  for (const ZeroOneProgram::Constraint& row : program.rows)
    for (const ZeroOneProgram::Coefficient& term : row.terms) ++out.begins[term.variable + 1];
  for (std::size_t i = 1; i < out.begins.size(); ++i) out.begins[i] += out.begins[i - 1];
  out.rows.resize(static_cast<std::size_t>(out.begins.back()));
  out.factors.resize(out.rows.size());
  std::vector<CoinBigIndex> next = out.begins;
  for (std::size_t row = 0; row < program.rows.size(); ++row)
    for (const ZeroOneProgram::Coefficient& term : program.rows[row].terms) {
      const auto at = static_cast<std::size_t>(next[term.variable]++);
      out.rows[at] = static_cast<int>(row);
      out.factors[at] = term.factor;
    }
  return out;
}

}  // namespace

bool stepcast_solve_program(const ZeroOneProgram& program, std::vector<double>& values, std::string& error) {
  const std::unique_ptr<Cbc_Model, Deleted> model(Cbc_newModel());
  const auto variables = static_cast<int>(program.costs.size());
  const Columns columns = columns_of(program);
  const std::vector<double> zeros(program.costs.size(), 0), ones(program.costs.size(), 1);
  std::vector<double> least, most;
  for (const ZeroOneProgram::Constraint& row : program.rows) {
    least.push_back(row.least);
    most.push_back(row.most);
  }
  Cbc_loadProblem(model.get(), variables, static_cast<int>(program.rows.size()), columns.begins.data(),
                  columns.rows.data(), columns.factors.data(), zeros.data(), ones.data(), program.costs.data(),
                  least.data(), most.data());
  for (int variable = 0; variable < variables; ++variable)
    if (program.whole[static_cast<std::size_t>(variable)]) Cbc_setInteger(model.get(), variable);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "slogLevel", "0");
  Cbc_setAllowableGap(model.get(), 0);
  Cbc_setParameter(model.get(), "preprocess", "off");  // of CBC 2.10.8 it loses answers that just keep to a limit
  // They take longer than the branching that they save: these programs are small, and without a limit of bytes nearly
  // always whole as they are.
  Cbc_setParameter(model.get(), "cuts", "off");
  Cbc_setParameter(model.get(), "heur", "off");
  Cbc_solve(model.get());
  values.clear();
  if (Cbc_isProvenInfeasible(model.get()) != 0) return true;
  const double* const found = Cbc_bestSolution(model.get());
  if (Cbc_isProvenOptimal(model.get()) == 0 || found == nullptr) {
    error = "CBC " + std::string(Cbc_getVersion()) + " ends with status " + std::to_string(Cbc_status(model.get()));
    return false;
  }
  values.assign(found, found + variables);
  return true;
}
