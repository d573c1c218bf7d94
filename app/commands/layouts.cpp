#include "search/layouts/layouts.h"

#include <oneapi/tbb/global_control.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/asked.h"
#include "app/cbc_module/solve_program.h"
#include "app/command.h"
#include "app/modules/module.h"
#include "app/output.h"
#include "app/report/layout_report.h"
#include "app/status_line.h"
#include "schedules/forecast.h"
#include "search/layouts/unsplit.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostStages = 1'000, kMostGroups = 96, kMostOfMesh = 1'000'000;
/// Of memory, for what machines remember of collectives.
constexpr std::size_t kLayoutMachineBytes = std::size_t{256} << 20;

CommandLine layouts_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("mesh", po::value<std::string>()->default_value("", ""),
                        "AxB: every stage's GPUs as A rows of B neighbours; else the best of all shapes")(
      "stages", po::value<std::string>()->default_value("", ""), "so many stages; else as many as are best")(
      "groups", po::value<std::string>()->default_value("", ""),
      "put the layers into at most so many groups that stages do not split; else 32");
  return asked_line(
      "usage: stepcast layouts SCENARIO.yaml|- [OPTIONS]\n\n"
      "Chooses which layers each pipeline stage has, on how many GPUs, and how each operator is split over them: an\n"
      "integer program for every run of layers and mesh, and a dynamic program over these (Alpa's two levels). Beside\n"
      "it stand the scenario's own plan and the nearest one that a scenario can say, both simulated. The scenario's\n"
      "tensor, data and pipeline ranks only say how large its micro-batches are. docs/layouts.md says how.\n\n"
      "  stepcast layouts scenarios/quickstart.yaml\n"
      "  stepcast layouts scenarios/mixtral-8x7b-64-h100.yaml --mesh 1x8 --stages 8\n\n"
      "Exit status 3: no layouts fit in the GPUs' memory.",
      options, {"table", "json"});
}

std::optional<search::MeshShape> mesh_asked(const std::string& word) {
  if (word.empty()) return std::nullopt;
  const std::size_t by = word.find('x');
  const std::string rows = word.substr(0, by), columns = by == word.npos ? "" : word.substr(by + 1);
  if (rows.empty() || columns.empty())
    throw InputError("--mesh", "found " + in_quotes(word) + ", expected AxB: rows and columns of GPUs");
  const search::MeshShape shape{parse_count(rows, "--mesh", kMostOfMesh), parse_count(columns, "--mesh", kMostOfMesh)};
  // One column is one row: of a mesh of one dimension the GPUs are neighbours.
  return shape.columns == 1 ? search::MeshShape{1, shape.rows} : shape;
}

search::LayoutOptions layout_options(const Asked& asked) {
  search::LayoutOptions options{.mesh = mesh_asked(word(asked.values, "mesh"))};
  if (const std::uint32_t stages = parse_count(word(asked.values, "stages"), "--stages", kMostStages); stages > 0)
    options.stages = stages;
  if (const std::uint32_t groups = parse_count(word(asked.values, "groups"), "--groups", kMostGroups); groups > 0)
    options.groups = groups;
  return options;
}

search::ProgramSolver loaded_solver() {
  std::string error;
  void* const function = function_of_module("stepcast-cbc", "stepcast_solve_program", error);
  if (function == nullptr)
    throw std::runtime_error(
        "layouts need a part of stepcast that cannot be loaded (" + error +
        "); it is built where the solver CBC is found: install Debian's coinor-libcbc-dev and build stepcast again");
  return reinterpret_cast<search::ProgramSolver>(function);
}

int tell_layouts(const std::vector<std::string>& words) {
  const auto asked = parse_asked(words, layouts_line());
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast layouts", "no scenario given; try scenarios/quickstart.yaml");
  const search::LayoutOptions options = layout_options(*asked);
  const auto questions = questions_asked(*asked, {}, {}, search::layout_problems);
  if (!questions) return kBadInput;
  if (questions->size() != 1)
    throw InputError("stepcast layouts", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  const language::Question& question = questions->front();
  if (!question.error.empty()) throw InputError("", question.error);

  std::optional<oneapi::tbb::global_control> limit;
  if (asked->threads > 0) limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism, asked->threads);
  const search::ProgramSolver solver = loaded_solver();
  workload::Machines machines(kLayoutMachineBytes);
  const schedules::ForecastOptions forecasting{.advise = false};
  std::optional<StatusLine> line("looking for layouts");
  LayoutReport report{.scenario = question.scenario,
                      .plan = search::best_layout_plan(question.scenario, options, solver, machines),
                      .own = schedules::forecast(question.scenario, machines, forecasting)};
  if (report.plan && report.plan->scenario)
    report.nearest = schedules::forecast(*report.plan->scenario, machines, forecasting);
  line.reset();
  write_output(asked->output, asked->format == Format::json ? layout_json(report) : layout_table(report));
  return report.plan ? kDone : kDoesNotFit;
}

}  // namespace

extern const Command layouts_command;
constinit const Command layouts_command{
    "layouts", "layers to stages, and how each operator is split, by an integer program", layouts_line, tell_layouts};

}  // namespace stepcast::app
