#include "app/run.h"

#include <algorithm>
#include <cstdio>

#include "app/asked.h"
#include "app/command.h"
#include "app/report/json.h"
#include "app/report/run_report.h"
#include "sim/input_error.h"

namespace stepcast::app {

int run(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("trace", po::value<std::string>()->default_value("", ""),
                        "write the step of one scenario for ui.perfetto.dev to this file")(
      "unfold", po::bool_switch(), "simulate every rank instead of one of each kind");
  auto asked =
      parse_asked(words,
                  "usage: stepcast run SCENARIO.yaml|TABLE.csv|FOLDER... [OPTIONS]\n\n"
                  "Forecasts a training step: how long it takes, where time and memory go. docs/scenario-reference.md\n"
                  "lists the keys of a scenario. Exit status 3: a plan does not fit in the GPUs' memory.",
                  options);
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast run", "no scenario given; try scenarios/quickstart.yaml");
  const auto trace = asked->values["trace"].as<std::string>();

  auto questions = questions_asked(*asked);
  if (!questions) return kBadInput;
  if (!trace.empty() && questions->size() != 1)
    throw InputError("--trace", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  if (!trace.empty() && trace == asked->output)
    throw InputError("--trace", "found the file of --output, expected another one");

  const std::vector<Answer> answers =
      answer(std::move(*questions), {asked->values["unfold"].as<bool>(), !trace.empty()}, asked->threads);
  for (const Answer& a : answers)
    if (!a.question.from_table && !a.forecast) throw InputError("", a.question.error);
  const std::string report = asked->format == Format::json  ? run_json(answers)
                             : asked->format == Format::csv ? run_csv(answers)
                                                            : run_table(answers);
  std::vector<NewFile> files;
  if (!trace.empty() && answers.front().forecast) files.push_back({trace, trace_json(*answers.front().forecast)});
  if (!asked->output.empty()) files.push_back({asked->output, report});
  write_files(files);
  if (asked->output.empty()) write_output("", report);
  const bool fits =
      std::ranges::none_of(answers, [](const Answer& a) { return a.forecast && a.forecast->out_of_memory; });
  return fits ? kDone : kDoesNotFit;
}

}  // namespace stepcast::app
