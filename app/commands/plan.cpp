#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/asked.h"
#include "app/command.h"
#include "app/output.h"
#include "app/planned_runs.h"
#include "app/report/page.h"
#include "app/report/plan_report.h"
#include "app/report_asked.h"
#include "app/split.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostSimulated = 1'000'000;
constexpr std::uint32_t kMostGpusOfARun = 10'000'000;

CommandLine plan_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("gpus", po::value<std::string>()->default_value("", ""),
                        "A,B,...: also plan the run on so many GPUs, with as many data ranks as these make")(
      "simulate-failures", po::value<std::string>()->default_value("", ""),
      "draw the failures of so many runs, beside what is expected of them")(
      "seed", po::value<std::string>()->default_value("1"), "of these draws");
  add_report_option(options);
  return asked_line(
      "usage: stepcast plan SCENARIO.yaml|TABLE.csv... [OPTIONS]\n\n"
      "Plans a whole run: how many days, GPU-hours, what energy and money until its target, how much of that is "
      "useful\n"
      "where GPUs fail, how often to checkpoint, and which batch is best where larger ones need more samples. The "
      "keys\n"
      "below `run` and `checkpoint` say what is known (stepcast keys run); what is not known is asked for.\n"
      "docs/plan.md says how.\n\n"
      "  stepcast plan scenarios/gpt3-175b-1024-a100.yaml --set 'run.gpu_hour_price=2 USD'\n"
      "  stepcast plan scenarios/resnet-50-p100-256.yaml --set run.batch_limit=8192 --gpus 8,64,256\n\n"
      "Exit status 3: the plan does not fit in the GPUs' memory.",
      options);
}

/// "8,16,32" in ascending order, each once.
std::vector<std::uint32_t> gpus_asked(const std::string& list) {
  std::vector<std::uint32_t> all;
  if (list.empty()) return all;
  for (const std::string& one : split(list, ',')) {
    const std::uint32_t gpus = one.empty() ? 0 : parse_count(one, "--gpus", kMostGpusOfARun);
    if (gpus == 0) throw InputError("--gpus", "found " + in_quotes(list) + ", expected A,B,...: whole numbers");
    all.push_back(gpus);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

PlanOptions plan_options(const Asked& asked) {
  PlanOptions options{
      .gpus = gpus_asked(word(asked.values, "gpus")),
      .simulated = parse_count(word(asked.values, "simulate-failures"), "--simulate-failures", kMostSimulated),
      .seed = parse_count(word(asked.values, "seed"), "--seed", kMostSimulated)};
  if (options.simulated == 0 && !asked.values["seed"].defaulted())
    throw InputError("--seed", "nothing is drawn, expected --simulate-failures beside it");
  return options;
}

int plan_runs(const std::vector<std::string>& words) {
  const auto asked = parse_asked(words, plan_line());
  if (!asked) return kDone;
  if (asked->paths.empty())
    throw InputError("stepcast plan", "no scenario given; try scenarios/gpt3-175b-1024-a100.yaml");
  const PlanOptions options = plan_options(*asked);
  const std::string page = report_asked(asked->values);
  auto questions = questions_asked(*asked, {{"--report", page}}, {}, search::run_problems);
  if (!questions) return kBadInput;
  const std::vector<PlannedRun> runs = planned_runs(std::move(*questions), options, asked->threads);
  std::vector<NewFile> files;
  if (!page.empty()) {
    PagePart part{.kind = "plan", .title = runs.front().answer.question.name, .document = plan_json(runs)};
    if (runs.size() > 1) part.title = std::to_string(runs.size()) + " runs";
    files.push_back({page, html_page({&part, 1})});
  }
  files.push_back({asked->output, asked->format == Format::json  ? plan_json(runs)
                                  : asked->format == Format::csv ? plan_csv(runs)
                                                                 : plan_table(runs)});
  write_files(files);
  std::vector<const language::Question*> failed;
  for (const PlannedRun& run : runs)
    if (!run.plan) failed.push_back(&run.answer.question);
  if (some_failed(failed, runs.size())) return kFailed;
  const bool fits =
      std::ranges::none_of(runs, [](const PlannedRun& run) { return run.answer.forecast->out_of_memory.has_value(); });
  return fits ? kDone : kDoesNotFit;
}

}  // namespace

extern const Command plan_command;
constinit const Command plan_command{"plan", "a whole run: days, money, energy, failures, checkpoints, the best batch",
                                     plan_line, plan_runs};

}  // namespace stepcast::app
