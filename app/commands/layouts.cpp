#include "search/layouts/layouts.h"

#include <string>
#include <vector>

#include "app/asked.h"
#include "app/chosen_layouts.h"
#include "app/command.h"
#include "app/output.h"
#include "app/report/layout_report.h"
#include "search/layouts/unsplit.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine layouts_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("mesh", po::value<std::string>()->default_value("", ""),
                        "AxB: every stage's GPUs as A rows of B neighbours; else the best of all shapes")(
      "stages", po::value<std::string>()->default_value("", ""),
      "so many stages, else as many as are best; or these: LAYERS:GPUS[:AxB[:samples]],..., each with its mesh, whose "
      "rows alone share samples")("groups", po::value<std::string>()->default_value("", ""),
                                  "put the layers into at most so many groups that stages do not split; else 32");
  return asked_line(
      "usage: stepcast layouts SCENARIO.yaml|- [OPTIONS]\n\n"
      "Chooses which layers each pipeline stage has, on how many GPUs, and how each operator is split over them: an\n"
      "integer program for every run of layers and mesh, and a dynamic program over these (Alpa's two levels). Beside\n"
      "it stand the scenario's own plan and the nearest one that a scenario can say, both simulated. The scenario's\n"
      "tensor, data and pipeline ranks only say how large its micro-batches are. docs/layouts.md says how.\n\n"
      "  stepcast layouts scenarios/quickstart.yaml\n"
      "  stepcast layouts scenarios/mixtral-8x7b-64-h100.yaml --mesh 1x8 --stages 8\n"
      "  stepcast layouts scenarios/mixtral-8x7b-64-h100.yaml --stages 16:32:4x8,16:32\n\n"
      "Exit status 3: no layouts fit in the GPUs' memory.",
      options, {"table", "json"});
}

search::LayoutOptions layout_options(const Asked& asked, const AskedStages& stages) {
  search::LayoutOptions options{.mesh = mesh_named(word(asked.values, "mesh"), "--mesh"), .stages = stages.count};
  if (const std::uint32_t groups = parse_count(word(asked.values, "groups"), "--groups", kMostLayoutGroups); groups > 0)
    options.groups = groups;
  check_alone(stages, options);
  return options;
}

int tell_layouts(const std::vector<std::string>& words) {
  const auto asked = parse_asked(words, layouts_line());
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast layouts", "no scenario given; try scenarios/quickstart.yaml");
  const AskedStages stages = stages_named(word(asked->values, "stages"), "--stages");
  const search::LayoutOptions options = layout_options(*asked, stages);
  const auto questions = questions_asked(*asked, {}, {}, search::layout_problems);
  if (!questions) return kBadInput;
  if (questions->size() != 1)
    throw InputError("stepcast layouts", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  const language::Question& question = questions->front();
  if (!question.error.empty()) throw InputError("", question.error);

  const LayoutReport report = chosen_layouts(question.scenario, options, stages, asked->threads);
  write_output(asked->output, asked->format == Format::json ? layout_json(report) : layout_table(report));
  return report.plan ? kDone : kDoesNotFit;
}

}  // namespace

extern const Command layouts_command;
constinit const Command layouts_command{
    "layouts", "layers to stages, and how each operator is split, by an integer program", layouts_line, tell_layouts};

}  // namespace stepcast::app
