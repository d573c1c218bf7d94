#include "app/chosen_layouts.h"

#include <oneapi/tbb/global_control.h>

#include <stdexcept>

#include "app/cbc_module/solve_program.h"
#include "app/modules/module.h"
#include "app/options.h"
#include "app/status_line.h"
#include "schedules/forecast.h"
#include "search/layouts/unsplit.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostOfMesh = 1'000'000;
/// Of memory, for what machines remember of collectives.
constexpr std::size_t kLayoutMachineBytes = std::size_t{256} << 20;

search::ProgramSolver loaded_solver() {
  std::string error;
  void* const function = function_of_module("stepcast-cbc", "stepcast_solve_program", error);
  if (function == nullptr)
    throw std::runtime_error(
        "layouts need a part of stepcast that cannot be loaded (" + error +
        "); it is built where the solver CBC is found: install Debian's coinor-libcbc-dev and build stepcast again");
  return reinterpret_cast<search::ProgramSolver>(function);
}

}  // namespace

std::optional<search::MeshShape> mesh_named(const std::string& word, const std::string& option) {
  if (word.empty()) return std::nullopt;
  const std::size_t by = word.find('x');
  const std::string rows = word.substr(0, by), columns = by == word.npos ? "" : word.substr(by + 1);
  if (rows.empty() || columns.empty())
    throw InputError(option, "found " + in_quotes(word) + ", expected AxB: rows and columns of GPUs");
  const search::MeshShape shape{parse_count(rows, option, kMostOfMesh), parse_count(columns, option, kMostOfMesh)};
  // One column is one row: of a mesh of one dimension the GPUs are neighbours.
  return shape.columns == 1 ? search::MeshShape{1, shape.rows} : shape;
}

LayoutReport chosen_layouts(const schedules::Scenario& scenario, const search::LayoutOptions& options,
                            unsigned threads) {
  std::optional<oneapi::tbb::global_control> limit;
  if (threads > 0) limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  const search::ProgramSolver solver = loaded_solver();
  workload::Machines machines(kLayoutMachineBytes);
  const schedules::ForecastOptions forecasting{.advise = false};
  const StatusLine line("looking for layouts");
  LayoutReport report{.scenario = scenario,
                      .plan = search::best_layout_plan(scenario, options, solver, machines),
                      .own = schedules::forecast(scenario, machines, forecasting)};
  if (report.plan && report.plan->scenario)
    report.nearest = schedules::forecast(*report.plan->scenario, machines, forecasting);
  return report;
}

}  // namespace stepcast::app
