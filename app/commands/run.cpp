#include <algorithm>
#include <array>

#include "app/asked.h"
#include "app/chakra_files.h"
#include "app/command.h"
#include "app/freed_memory.h"
#include "app/hashed_steps.h"
#include "app/hashings.h"
#include "app/output.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report/run_part.h"
#include "app/report/run_report.h"
#include "app/report/schedule_diagram.h"
#include "app/report/terminal.h"
#include "app/report_asked.h"
#include "app/simulate_word.h"
#include "language/core/streams.h"
#include "schedules/checks/check_transfers.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr const char* kTerminal = "terminal";

/// The scenario's name, its schedule and the pipeline's size.
std::string diagram_title(const Answer& answer) {
  const schedules::Scenario& s = answer.question.scenario;
  return s.name + ": " + s.pipeline.schedule + ", " + std::to_string(s.parallelism.pipeline) + " stages, " +
         std::to_string(micro_batches(s)) + " micro-batches";
}

/// `word`: of --simulate. Pictures and traces are of a step, whether it fits or not.
AnswerOptions simulated(const std::string& word, bool draws, bool transfers) {
  const std::optional<schedules::Simulate> asked = simulate_word(word);
  if (draws && !word.empty() && word != "all")
    throw InputError("--simulate", "found " + in_quotes(word) + " beside a trace or diagram, expected all");
  if (transfers && word == "none")
    throw InputError("--simulate", "found 'none' beside --detail transfers, expected all or fitting");
  AnswerOptions options;
  options.rows_that_may_fit = word.empty() && !draws;
  if (asked) options.forecast.simulate = *asked;
  options.forecast.advise = word != "none";
  return options;
}

/// `word`: of --detail.
bool detailed(const std::string& word) {
  if (!word.empty() && word != "transfers")
    throw InputError("--detail", "found " + in_quotes(word) + ", expected transfers");
  return !word.empty();
}

/// What keeps a scenario from being forecast so.
language::MoreChecks checks_beside(const schedules::ForecastOptions& options) {
  if (!options.transfers) return {};
  return schedules::check_transfers;
}

CommandLine run_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("trace", po::value<std::string>()->default_value("", ""),
                        "write the step of one scenario for ui.perfetto.dev to this file")(
      "schedule-diagram", po::value<std::string>(),
      "draw what each stage of one scenario does when: in the terminal, or with =FILE.svg or =FILE.png there")(
      "chakra", po::value<std::string>()->default_value("", ""),
      "write every rank of one scenario's step as Chakra execution traces, PREFIX.0.et, PREFIX.1.et ...; it is "
      "simulated as with --unfold (docs/chakra.md)")("unfold", po::bool_switch(),
                                                     "simulate every rank instead of one of each kind")(
      "detail", po::value<std::string>()->default_value("", ""),
      "transfers: simulate every transfer of every collective of every rank, those inside layers too, on the links "
      "that "
      "they cross; slow, for up to some hundred GPUs")(
      "simulate", po::value<std::string>()->default_value("", ""),
      "all; fitting: not what needs more than 1.25 times the memory there is; none: say only what fits; by default "
      "fitting for rows of a table without a measured step, all for all else")(
      "seeds", po::value<std::string>()->default_value("", ""),
      "instead: step time over so many hashings of a fabric that hashes, from cluster.fabric.seed on: the least, the "
      "median, the 95th percentile and the most");
  add_report_option(options);
  return asked_line(
      "usage: stepcast run SCENARIO.yaml|TABLE.csv|FOLDER|-... [OPTIONS]\n\n"
      "Forecasts a training step: how long it takes, where time and memory go. docs/scenario-reference.md\n"
      "lists the keys of a scenario. - is standard input, of either kind. Exit status 1: some row of a table or\n"
      "file of a folder could not be run (the others are); else 3: a plan does not fit in the GPUs' memory.\n\n"
      "  stepcast run scenarios/quickstart.yaml --set recompute=full\n"
      "  stepcast run scenarios/quickstart.yaml --schedule-diagram --trace step.json",
      options);
}

/// The step times of --seeds.
int run_over_hashings(const Asked& asked, std::uint32_t seeds) {
  refuse_beside(asked.values, "seeds", {"trace", "chakra", "schedule-diagram", "simulate", "report"});
  AnswerOptions options;
  options.forecast.transfers = detailed(asked.values["detail"].as<std::string>());
  auto questions = questions_asked(asked, {}, {}, checks_beside(options.forecast));
  if (!questions) return kBadInput;
  options.forecast.unfold = asked.values["unfold"].as<bool>();
  options.forecast.advise = false;
  options.threads = asked.threads;
  const std::vector<HashedSteps> all = steps_over_hashings(std::move(*questions), seeds, options);
  write_output(asked.output, asked.format == Format::json  ? hashed_steps_json(all, seeds)
                             : asked.format == Format::csv ? hashed_steps_csv(all, seeds)
                                                           : hashed_steps_table(all, seeds));
  std::vector<const language::Question*> failed;
  for (const HashedSteps& each : all)
    if (!each.seconds) failed.push_back(&each.question);
  if (some_failed(failed, all.size())) return kFailed;
  return std::ranges::all_of(all, &HashedSteps::fits) ? kDone : kDoesNotFit;
}

/// The files of --chakra, if it is asked for.
std::vector<NamedFile> traces_of_ranks(const std::vector<language::Question>& questions, const std::string& prefix) {
  std::vector<NamedFile> files;
  if (prefix.empty() || questions.size() != 1 || !questions.front().error.empty()) return files;
  for (std::string& name : chakra_file_names(questions.front().scenario.cluster.gpus, prefix))
    files.push_back({"--chakra", std::move(name)});
  return files;
}

int run(const std::vector<std::string>& written) {
  std::vector<std::string> words = written;
  // Boost would take the next word, a scenario, for the file.
  std::ranges::replace(words, std::string("--schedule-diagram"), std::string("--schedule-diagram=") + kTerminal);
  auto asked = parse_asked(words, run_line());
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast run", "no scenario given; try scenarios/quickstart.yaml");
  const std::uint32_t seeds = parse_count(asked->values["seeds"].as<std::string>(), "--seeds", kMostHashings);
  if (seeds > 0) return run_over_hashings(*asked, seeds);
  const auto trace = asked->values["trace"].as<std::string>(), page = report_asked(asked->values),
             chakra = word(asked->values, "chakra");

  const bool draws = asked->values.count("schedule-diagram") != 0;
  const auto diagram = draws ? asked->values["schedule-diagram"].as<std::string>() : "";
  if (diagram == kTerminal && asked->format != Format::table)
    throw InputError("--schedule-diagram",
                     "found no file, expected =FILE.svg or =FILE.png beside --format json or csv");

  const bool draws_file = draws && diagram != kTerminal;
  if (draws_file) check_picture(diagram, "--schedule-diagram");

  const bool transfers = detailed(asked->values["detail"].as<std::string>());
  AnswerOptions options =
      simulated(asked->values["simulate"].as<std::string>(), !trace.empty() || draws || !chakra.empty(), transfers);
  options.forecast.transfers = transfers;
  auto questions = questions_asked(
      *asked, {{"--trace", trace}, {"--schedule-diagram", draws_file ? diagram : ""}, {"--report", page}}, {},
      checks_beside(options.forecast), [&](const auto& all) { return traces_of_ranks(all, chakra); });
  if (!questions) return kBadInput;
  if (draws && questions->size() != 1)
    throw InputError("--schedule-diagram", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  if (!trace.empty() && questions->size() != 1)
    throw InputError("--trace", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  if (!chakra.empty() && questions->size() != 1)
    throw InputError("--chakra", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  options.forecast.record = !chakra.empty();

  options.forecast.unfold = asked->values["unfold"].as<bool>();
  options.forecast.step_detail = !page.empty() && questions->size() == 1;
  if (options.forecast.step_detail) options.rows_that_may_fit = false;
  options.forecast.trace = !trace.empty() || draws || options.forecast.step_detail;
  options.forecast.time_details = asked->format == Format::json || !page.empty();
  options.threads = asked->threads;
  if (questions->size() > 1) keep_freed_memory();
  std::vector<Answer> answers = answer(std::move(*questions), options);
  for (const Answer& a : answers)
    if (!a.question.among_others && !a.forecast) throw InputError("", a.question.error);
  add_bands(answers, measured_residuals());
  std::string report = asked->format == Format::json  ? run_json(answers)
                       : asked->format == Format::csv ? run_csv(answers)
                                                      : run_table(answers);
  std::vector<NewFile> files;
  if (!trace.empty() && answers.front().forecast) files.push_back({trace, trace_json(*answers.front().forecast)});
  if (!chakra.empty() && answers.front().forecast) {
    const schedules::Forecast& forecast = *answers.front().forecast;
    for (NewFile& file : chakra_files(*forecast.recorded, static_cast<std::uint32_t>(forecast.gpus), chakra))
      files.push_back(std::move(file));
  }
  if (draws && answers.front().forecast) {
    const schedules::Forecast& forecast = *answers.front().forecast;
    if (diagram == kTerminal)
      report += "\n" + schedule_text(forecast, is_stdout(asked->output) ? terminal() : Terminal{});
    else
      files.push_back({diagram, picture(schedule_svg(forecast, diagram_title(answers.front())), diagram)});
  }
  if (!page.empty()) files.push_back({page, html_page(std::array{run_part(answers)})});
  files.push_back({asked->output, report});
  write_files(files);
  if (some_failed(answers)) return kFailed;
  const bool fits =
      std::ranges::none_of(answers, [](const Answer& a) { return a.forecast && a.forecast->out_of_memory; });
  return fits ? kDone : kDoesNotFit;
}

}  // namespace

extern const Command run_command;
constinit const Command run_command{"run", "forecast scenarios: step time, where it goes, memory", run_line, run};

}  // namespace stepcast::app
