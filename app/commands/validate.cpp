#include <algorithm>

#include "app/asked.h"
#include "app/command.h"
#include "app/explain.h"
#include "app/freed_memory.h"
#include "app/output.h"
#include "app/report/comparison.h"
#include "app/report/explanation.h"
#include "app/report/json.h"
#include "app/report/moved.h"
#include "app/report/page.h"
#include "app/report/residuals.h"
#include "app/report_asked.h"
#include "language/configs/config_folders.h"
#include "language/core/streams.h"
#include "language/tables/predictions.h"
#include "sim/input_error.h"

namespace stepcast::app {

namespace {

CommandLine validate_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("residuals", po::value<std::string>()->default_value("", ""),
                        "write the errors that bands are made from to this file: configs/residuals.csv")(
      "explain", po::value<std::string>()->default_value("", ""),
      "say which part of the model is most likely wrong where the row of this name is off")(
      "against", po::value<std::string>()->default_value("", ""),
      "show what moved since this file, which --format csv or json wrote");
  add_report_option(options);
  return asked_line(
      "usage: stepcast validate [SCENARIO.yaml|TABLE.csv|FOLDER|-...] [OPTIONS]\n\n"
      "Puts predicted beside measured for every scenario with a `measured:` block; without a path, for\n"
      "scenarios/published. error = predicted / measured - 1. Exit status 1: some row of a table or file\n"
      "of a folder could not be run (the others are).\n\n"
      "  stepcast validate\n"
      "  stepcast validate scenarios/published/mtnlg_530b.csv --format csv",
      options);
}

int validate(const std::vector<std::string>& words) {
  auto asked = parse_asked(words, validate_line());
  if (!asked) return kDone;
  if (asked->paths.empty())
    asked->paths.push_back((language::library_folder().parent_path() / "scenarios/published").string());

  const auto explained = asked->values["explain"].as<std::string>();
  if (!explained.empty() && asked->format == Format::csv)
    throw InputError("--explain", "found --format csv, expected table or json");
  const auto residuals = asked->values["residuals"].as<std::string>();
  const auto against = asked->values["against"].as<std::string>();
  if (!against.empty() && asked->format != Format::table)
    throw InputError("--against", "found --format json or csv, expected table");

  const std::string page = report_asked(asked->values);
  refuse_beside(asked->values, "report", {"explain", "against"});

  std::vector<std::filesystem::path> inputs;
  if (!against.empty()) inputs.emplace_back(language::input_named(against));
  auto questions = questions_asked(*asked, {{"--residuals", residuals}, {"--report", page}}, inputs);
  if (!questions) return kBadInput;
  const std::vector<language::OldPrediction> old =
      against.empty() ? std::vector<language::OldPrediction>() : language::read_predictions(inputs.front());

  keep_freed_memory();
  std::vector<Answer> answers = answer(std::move(*questions), {.threads = asked->threads});
  const std::vector<calibrate::Residual> measured = measured_residuals();
  add_bands(answers, measured);
  if (!explained.empty()) {
    const calibrate::Explanation why = explain(answers, explained);
    write_output(asked->output,
                 asked->format == Format::json ? explanation_json(explained, why) : explanation_table(explained, why));
    return some_failed(answers) ? kFailed : kDone;
  }
  const Comparison comparison = compare(answers, measured);
  if (comparison.rows.empty()) {
    const bool whole_runs = std::ranges::any_of(
        answers, [](const Answer& each) { return each.question.scenario.measured.run_time.has_value(); });
    throw InputError(asked->paths.front(),
                     whole_runs
                         ? "found measured.run_time alone, of whole runs, which stepcast plan compares; expected "
                           "measured.step_time"
                         : "no scenario there has a `measured:` block, expected measured.step_time in one");
  }
  std::vector<NewFile> files;
  if (!residuals.empty()) files.push_back({residuals, residuals_csv(comparison)});
  if (!page.empty()) {
    const PagePart part{
        .kind = "validate", .title = "Predicted beside measured", .document = validate_json(comparison)};
    files.push_back({page, html_page({&part, 1})});
  }
  files.push_back({asked->output, !against.empty()                ? moved_table(comparison, old)
                                  : asked->format == Format::json ? validate_json(comparison)
                                  : asked->format == Format::csv  ? validate_csv(comparison)
                                                                  : validate_table(comparison)});
  write_files(files);
  return some_failed(answers) ? kFailed : kDone;
}

}  // namespace

extern const Command validate_command;
constinit const Command validate_command{"validate", "predicted beside measured for runs that state what they took",
                                         validate_line, validate};

}  // namespace stepcast::app
