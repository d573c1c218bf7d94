#include <algorithm>
#include <fstream>

#include "app/asked.h"
#include "app/command.h"
#include "app/diff/diff_report.h"
#include "app/diff/said_keys.h"
#include "app/forecast_side.h"
#include "app/logged_side.h"
#include "app/output.h"
#include "app/report/page.h"
#include "app/report/recorded_detail_json.h"
#include "app/report/run_part.h"
#include "app/report/terminal.h"
#include "app/report_asked.h"
#include "app/status_line.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "language/scenario_text.h"
#include "language/settings.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostStepsInATrace = 1'000'000;

CommandLine diff_line() {
  namespace po = boost::program_options;
  const auto settings = [] { return po::value<std::vector<std::string>>()->composing()->default_value({}, ""); };
  const auto text = [] { return po::value<std::string>()->default_value("", ""); };
  po::options_description options("Options");
  options.add_options()("set", settings(), "KEY=VALUE laid over the scenarios of both sides; may be repeated")(
      "set-a", settings(), "the same for A alone")("set-b", settings(), "the same for B alone")(
      "row-a", text(), "which row of a table, or result of a file of several, A is")("row-b", text(), "the same for B")(
      "stage", text(), "compare this pipeline stage, not the mean over the stages")(
      "step", text(), "which step of a trace: ProfilerStep#7 or 7; the one of median length if left out")(
      "device", text(), "which device of a trace; the first if left out")(
      "steps", text(), "how many steps a trace without marks of steps holds: their mean is compared")(
      "format", po::value<std::string>()->default_value("table"), "table, json or csv")(
      "output", text(), "write to this file; -: standard output");
  add_report_option(options);
  return {
      .usage =
          "usage: stepcast diff A [B] [OPTIONS]\n\n"
          "Says how two steps differ: compute by class, each kind of communication that nothing hides, bubbles, host,\n"
          "memory. The parts add up to the difference exactly. A and B are each a scenario (.yaml, or a row of a "
          ".csv),\n"
          "what run --format json wrote, or a trace of a real step: Kineto JSON of the PyTorch profiler (also packed) "
          "or\n"
          "an export of Nsight Systems (SQLite, JSON). Without B, B is A with what --set-b says.\n\n"
          "  stepcast diff scenarios/quickstart.yaml --set-b recompute=full\n"
          "  stepcast diff scenarios/resnet-50-v100.yaml trace.json.gz --report diff.html\n\n"
          "docs/diff.md explains the columns. Exit status 3: a plan does not fit in the GPUs' memory.",
      .options = options,
      .sets_scenarios = true};
}

/// What a side is asked with.
struct SideAsked {
  std::string file, row;
  std::vector<std::string> settings;
  std::string flag;  ///< "--row-a"
};

std::map<std::string, std::string> keys_of(const SideAsked& asked, language::Library& library) {
  const std::vector<std::vector<std::string>> layers{asked.settings};
  return said_keys(language::scenario_tree(asked.file, layers, library));
}

/// What is wrong with a side's file without the settings, if it is just what is wrong with it with them: `faulty`,
/// which names a setting in front.
std::optional<std::string> fault_of_file(const SideAsked& asked, const std::string& faulty,
                                         language::Library& library) {
  const std::string_view complaint = std::string_view(faulty).substr(std::min(faulty.find(": "), faulty.size()));
  const std::vector<std::string> paths{asked.file};
  try {
    const std::string alone = language::read_questions(paths, {}, library).front().error;
    if (alone.ends_with(complaint)) return alone;
  } catch (const InputError& alone) {
    if (std::string_view(alone.what()).ends_with(complaint)) return alone.what();
  }
  return std::nullopt;
}

/// Settings are laid over two files: where one does not go with them, the complaint says which.
language::Question question_of(const SideAsked& asked, language::Library& library) {
  const std::vector<std::string> paths{asked.file};
  language::settings_layer(asked.settings, {});  // what no file could go with is told first
  std::vector<language::Question> questions;
  const auto told = [&](const std::string& fault) {
    if (!fault.starts_with("--set")) return fault;
    return fault_of_file(asked, fault, library).value_or(language::shown_path(asked.file) + ": with " + fault);
  };
  try {
    questions = language::read_questions(paths, asked.settings, library);
  } catch (const InputError& fault) {
    throw InputError("", told(fault.what()));
  }
  if (questions.size() == 1) questions.front().error = told(questions.front().error);
  return language::question_of_row(std::move(questions), asked.row, asked.flag);
}

DiffSide side_asked(Answer& answer, const SideAsked& asked, language::Library& library, bool drawn) {
  workload::Machines machines;
  DiffSide side = forecast_side(answer, machines, drawn);
  if (!answer.question.of_table) side.keys = keys_of(asked, library);
  return side;
}

std::uint32_t number_asked(const std::string& word, const std::string& option) {
  if (word == "0") return 0;
  return parse_count(word, option, 1u << 20);
}

DiffSide recorded_side(const SideAsked& asked, const calibrate::TraceChoice& choice,
                       const schedules::Scenario* beside) {
  DiffSide side = logged_side(asked.file, asked.row, choice, beside);  // what is wrong with the file comes first
  if (!asked.settings.empty())
    throw InputError(asked.flag == "--row-a" ? "--set-a" : "--set-b",
                     "found beside " + language::shown_path(asked.file) + ", which is no scenario");
  return side;
}

std::array<SideAsked, 2> sides_asked(const boost::program_options::variables_map& values) {
  const auto paths = values["path"].as<std::vector<std::string>>();
  if (paths.empty() || paths.size() > 2)
    throw InputError("stepcast diff",
                     "found " + std::to_string(paths.size()) + " sides, expected A and B, or A and --set-b");
  const auto both = values["set"].as<std::vector<std::string>>();
  std::array<SideAsked, 2> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string which = i == 0 ? "a" : "b";
    SideAsked& side = sides[i];
    side.file = language::input_named(paths.size() == 2 ? paths[i] : paths[0]);
    side.row = word(values, ("row-" + which).c_str());
    side.flag = "--row-" + which;
    const auto own = values["set-" + which].as<std::vector<std::string>>();
    if (holds_scenarios(side.file)) side.settings = both;
    side.settings.insert(side.settings.end(), own.begin(), own.end());
  }
  if (paths.size() == 1 && sides[1].settings.size() == both.size() && sides[1].row.empty())
    throw InputError("stepcast diff", "found A alone, expected B, or --set-b KEY=VALUE that makes B of A");
  if (paths.size() == 1 && sides[1].row.empty()) sides[1].row = sides[0].row;
  return sides;
}

/// The comparison, and behind it each side that was forecast, with all that is drawn of its step. A side that was
/// recorded is drawn in the comparison alone. `document`: the comparison as JSON.
std::string diff_page(std::string document, std::array<std::optional<Answer>, 2>& answers,
                      const std::array<std::optional<DiffSide>, 2>& told) {
  std::vector<PagePart> parts{{.kind = "diff", .title = "A against B", .document = std::move(document)}};
  std::string sides;
  for (std::size_t i = 0; i < 2; ++i) {
    std::string side;
    if (answers[i]) {
      std::vector<Answer> one;
      one.push_back(std::move(*answers[i]));
      add_bands(one, measured_residuals());
      side = std::to_string(parts.size());
      parts.push_back(run_part(one));
    } else if (told[i]->trace && !told[i]->trace->rows.empty()) {
      side = recorded_detail_json(*told[i]->trace);
    }
    if (!side.empty()) sides += (sides.empty() ? "{" : ",") + std::string(i == 0 ? "\"a\":" : "\"b\":") + side;
  }
  if (!sides.empty()) parts.front().detail = sides + "}";
  return html_page(parts);
}

int tell_difference(const std::vector<std::string>& words) {
  const auto values = parse_options(words, diff_line());
  if (!values) return kDone;
  const Format format = parse_format(word(*values, "format"));
  const std::array<SideAsked, 2> sides = sides_asked(*values);
  const std::vector<std::filesystem::path> inputs{sides[0].file, sides[1].file};
  const std::string page = report_asked(*values);
  check_outputs(std::array{named_output(word(*values, "output")), NamedFile{"--report", page}}, inputs);
  calibrate::TraceChoice choice;
  if (const std::string step = word(*values, "step"); !step.empty()) choice.step = step;
  if (const std::string device = word(*values, "device"); !device.empty())
    choice.device = number_asked(device, "--device");
  choice.steps = std::max(1u, parse_count(word(*values, "steps"), "--steps", kMostStepsInATrace));
  choice.rows = !page.empty();
  std::optional<std::uint32_t> stage;
  if (const std::string asked = word(*values, "stage"); !asked.empty()) stage = number_asked(asked, "--stage");

  language::Library library(language::config_folders());
  std::array<std::optional<Answer>, 2> answers;
  std::array<std::optional<DiffSide>, 2> told;
  std::optional<StatusLine> line("comparing");
  for (std::size_t i = 0; i < 2; ++i)
    if (holds_scenarios(sides[i].file)) answers[i].emplace(Answer{question_of(sides[i], library), std::nullopt, {}});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<Answer>& other = answers[1 - i];
    told[i] = answers[i] ? side_asked(*answers[i], sides[i], library, !page.empty())
                         : recorded_side(sides[i], choice, other ? &other->question.scenario : nullptr);
  }
  line.reset();
  const DiffSide &a = *told[0], &b = *told[1];
  if (a.step == Time{} || b.step == Time{}) throw InputError("stepcast diff", "found a step of no length");
  const StepDifference different = difference(a, b, stage);
  std::vector<NewFile> files;
  if (!page.empty()) files.push_back({page, diff_page(diff_json(a, b, different), answers, told)});
  files.push_back({word(*values, "output"), format == Format::json  ? diff_json(a, b, different)
                                            : format == Format::csv ? diff_csv(a, b, different)
                                                                    : diff_table(a, b, different, terminal().width)});
  write_files(files);
  return a.fits && b.fits ? kDone : kDoesNotFit;
}

}  // namespace

extern const Command diff_command;
constinit const Command diff_command{"diff", "how two steps differ: forecasts, results or a measured trace", diff_line,
                                     tell_difference};

}  // namespace stepcast::app
