#include "app/chosen_layouts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/cbc_module/solve_program.h"
#include "app/modules/module.h"
#include "app/options.h"
#include "app/split.h"
#include "app/status_line.h"
#include "calibrate/in_parallel.h"
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

search::HeldStage stage_named(const std::string& text, const std::string& option) {
  const std::vector<std::string> parts = split(text, ':');
  const bool lacks = std::ranges::any_of(parts, &std::string::empty);
  if (parts.size() < 2 || parts.size() > 4 || lacks || (parts.size() == 4 && parts[3] != "samples"))
    throw InputError(option, "found " + in_quotes(text) +
                                 ", expected LAYERS:GPUS, LAYERS:GPUS:AxB or LAYERS:GPUS:AxB:samples, such as 8:4:2x2");
  search::HeldStage stage{.layers = parse_count(parts[0], option, kMostOfMesh),
                          .gpus = parse_count(parts[1], option, kMostOfMesh)};
  if (parts.size() > 2) stage.mesh.shape = mesh_named(parts[2], option);
  if (parts.size() == 4) {
    const bool one_column = parts[2].ends_with("x1"), one_row = stage.mesh.shape->rows == 1;
    stage.mesh.samples = one_column ? search::SampleAxes::all
                         : one_row  ? search::SampleAxes::none
                                    : search::SampleAxes::rows;
  }
  return stage;
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

AskedStages stages_named(const std::string& word, const std::string& option) {
  AskedStages asked{.option = option};
  if (word.empty()) return asked;
  if (word.find_first_of(":,") == word.npos) {
    asked.count = parse_count(word, option, kMostLayoutStages);
    return asked;
  }
  for (const std::string& part : split(word, ',')) asked.held.push_back(stage_named(part, option));
  if (asked.held.size() > kMostLayoutStages)
    throw InputError(option, "found " + std::to_string(asked.held.size()) + " stages, expected at most " +
                                 std::to_string(kMostLayoutStages));
  return asked;
}

void check_alone(const AskedStages& stages, const search::LayoutOptions& options) {
  if (!stages.held.empty() && (options.mesh || options.groups))
    throw InputError(stages.option, "found stages with their layers beside " +
                                        std::string(stages.option.starts_with("--") ? "--" : "") +
                                        (options.mesh ? "mesh" : "groups") + ", expected a number of stages beside it");
}

LayoutReport chosen_layouts(const schedules::Scenario& scenario, const search::LayoutOptions& options,
                            const AskedStages& stages, unsigned threads) {
  const calibrate::MostThreads limit(threads);
  const search::ProgramSolver solver = loaded_solver();
  workload::Machines machines(kLayoutMachineBytes);
  const schedules::ForecastOptions forecasting{.advise = false, .compare = false};
  const StatusLine line("looking for layouts");
  search::HeldPlan chosen =
      stages.held.empty() ? search::HeldPlan{.plan = search::best_layout_plan(scenario, options, solver, machines)}
                          : search::held_layout_plan(scenario, stages.held, stages.option, solver, machines);
  LayoutReport report{.scenario = scenario,
                      .plan = std::move(chosen.plan),
                      .shortages = std::move(chosen.shortages),
                      .own = schedules::forecast(scenario, machines, forecasting)};
  if (report.plan && report.plan->scenario)
    report.nearest = schedules::forecast(*report.plan->scenario, machines, forecasting);
  return report;
}

}  // namespace stepcast::app
