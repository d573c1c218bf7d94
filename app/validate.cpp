#include "app/validate.h"

#include "app/asked.h"
#include "app/command.h"
#include "app/explain.h"
#include "app/read/predictions.h"
#include "app/report/comparison.h"
#include "app/report/explanation.h"
#include "app/report/json.h"
#include "app/report/moved.h"
#include "app/report/residuals.h"
#include "sim/input_error.h"

namespace stepcast::app {

int validate(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("residuals", po::value<std::string>()->default_value("", ""),
                        "write the errors that bands are made from to this file: configs/residuals.csv")(
      "explain", po::value<std::string>()->default_value("", ""),
      "say which part of the model is most likely wrong where the row of this name is off")(
      "against", po::value<std::string>()->default_value("", ""),
      "show what moved since this file, which --format csv or json wrote");
  auto asked = parse_asked(
      words,
      "usage: stepcast validate [SCENARIO.yaml|TABLE.csv|FOLDER...] [OPTIONS]\n\n"
      "Puts predicted beside measured for every scenario with a `measured:` block; without a path, for\n"
      "scenarios/published. error = predicted / measured - 1. Exit status 1: no row of a table could be run.",
      options);
  if (!asked) return kDone;
  if (asked->paths.empty())
    asked->paths.push_back((configs_directory().parent_path() / "scenarios/published").string());

  auto questions = questions_asked(*asked);
  if (!questions) return kBadInput;
  std::vector<Answer> answers = answer(std::move(*questions), {}, asked->threads);
  const std::vector<calibrate::Residual> measured = measured_residuals();
  add_bands(answers, measured);
  const auto explained = asked->values["explain"].as<std::string>();
  if (!explained.empty()) {
    if (asked->format == Format::csv) throw InputError("--explain", "found --format csv, expected table or json");
    const calibrate::Explanation why = explain(answers, explained);
    write_output(asked->output,
                 asked->format == Format::json ? explanation_json(explained, why) : explanation_table(explained, why));
    return kDone;
  }
  const Comparison comparison = compare(answers, measured);
  if (comparison.rows.empty())
    throw InputError(asked->paths.front(),
                     "no scenario there has a `measured:` block, expected measured.step_time in one");
  const int status = some_table_failed(answers) ? kFailed : kDone;
  const auto residuals = asked->values["residuals"].as<std::string>();
  if (!residuals.empty()) write_file(residuals, residuals_csv(comparison));
  const auto against = asked->values["against"].as<std::string>();
  if (!against.empty()) {
    if (asked->format != Format::table) throw InputError("--against", "found --format json or csv, expected table");
    write_output(asked->output, moved_table(comparison, read_predictions(against)));
    return status;
  }
  write_output(asked->output, asked->format == Format::json  ? validate_json(comparison)
                              : asked->format == Format::csv ? validate_csv(comparison)
                                                             : validate_table(comparison));
  return status;
}

}  // namespace stepcast::app
