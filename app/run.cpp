#include "app/run.h"

#include <algorithm>
#include <cstdio>

#include "app/answers.h"
#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/json.h"
#include "app/report/run_report.h"
#include "sim/input_error.h"

namespace stepcast::app {

int run(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE laid over every scenario; may be repeated")
      ("format", po::value<std::string>()->default_value("table"), "table, json or csv")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output")
      ("trace", po::value<std::string>()->default_value("", ""), "write the step of one scenario for ui.perfetto.dev to this file")
      ("unfold", po::bool_switch(), "simulate every rank instead of one of each kind")
      ("threads", po::value<unsigned>()->default_value(0, "all"), "scenarios forecast at the same time");
  // clang-format on
  const auto values = parse_options(
      words,
      "usage: stepcast run SCENARIO.yaml|TABLE.csv|FOLDER... [OPTIONS]\n\n"
      "Forecasts a training step: how long it takes, where time and memory go. docs/scenario-reference.md\n"
      "lists the keys of a scenario. Exit status 3: a plan does not fit in the GPUs' memory.",
      options);
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.empty()) throw InputError("stepcast run", "no scenario given; try scenarios/quickstart.yaml");
  const Format format = parse_format((*values)["format"].as<std::string>());
  const auto trace = (*values)["trace"].as<std::string>();

  Library library(configs_directory());
  std::vector<Question> questions = read_questions(paths, (*values)["set"].as<std::vector<std::string>>(), library);
  if (!trace.empty() && questions.size() != 1)
    throw InputError("--trace", "found " + std::to_string(questions.size()) + " scenarios, expected one");
  bool bad_file = false;
  for (const Question& q : questions)
    if (!q.from_table && !q.error.empty()) {
      std::fprintf(stderr, "%s\n", q.error.c_str());
      bad_file = true;
    }
  if (bad_file) return kBadInput;

  const std::vector<Answer> answers = answer(std::move(questions), {(*values)["unfold"].as<bool>(), !trace.empty()},
                                             (*values)["threads"].as<unsigned>());
  for (const Answer& a : answers)
    if (!a.question.from_table && !a.forecast) {
      std::fprintf(stderr, "%s\n", a.question.error.c_str());
      bad_file = true;
    }
  if (bad_file) return kBadInput;
  if (!trace.empty()) write_file(trace, trace_json(*answers.front().forecast));
  write_output((*values)["output"].as<std::string>(), format == Format::json  ? run_json(answers)
                                                      : format == Format::csv ? run_csv(answers)
                                                                              : run_table(answers));
  const bool fits =
      std::ranges::none_of(answers, [](const Answer& a) { return a.forecast && a.forecast->out_of_memory; });
  return fits ? kDone : kDoesNotFit;
}

}  // namespace stepcast::app
