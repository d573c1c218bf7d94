#include "search/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "app/asked.h"
#include "app/command.h"
#include "app/commands/search_until.h"
#include "app/freed_memory.h"
#include "app/launch_text.h"
#include "app/output.h"
#include "app/report/page.h"
#include "app/report/search_report.h"
#include "app/report/searched_runs.h"
#include "app/report_asked.h"
#include "app/search_space.h"
#include "app/search_start.h"
#include "app/status_line.h"
#include "app/stop_signals.h"
#include "calibrate/in_parallel.h"
#include "language/configs/config_folders.h"
#include "language/core/streams.h"
#include "language/frameworks/emit.h"
#include "language/frameworks/frameworks.h"
#include "language/scenario_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostTop = 100'000;
/// Of memory, for what machines remember of collectives.
constexpr std::size_t kMachineBytes = std::size_t{256} << 20;

CommandLine search_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()(
      "objective", po::value<std::string>()->default_value("step_time"),
      "step_time, memory (of the fullest GPU), gpus, money or energy (of a step): what the best plan has least of")(
      "within", po::value<std::string>()->default_value("", ""),
      "TIME or MEMORY, such as '10 s', '60 GiB' or '10 s,60 GiB': only plans whose step takes less, and whose fullest "
      "GPU holds no more")("over", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
                           "KEY=A,B,...: the values of a key that are tried; may be repeated")(
      "fix", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
      "KEY: it keeps the scenario's value; may be repeated")("top", po::value<std::string>()->default_value("10"),
                                                             "so many of the best plans")(
      "front", po::bool_switch(), "also every plan that no other beats in both step time and memory")(
      "budget", po::value<std::string>()->default_value("", ""), "simulate at most so many plans")(
      "exhaustive", po::bool_switch(), "simulate every plan that fits, whatever its bound")(
      "emit", po::value<std::string>()->default_value("", ""),
      ("instead, the best plan: yaml, a scenario; " + language::framework_names() +
       ": what starts it, of the plans that it can be told")
          .c_str())(
      "until", po::value<std::string>()->default_value("", ""),
      "CONDITION, such as 'step_time<10s': instead, the least of what --least names with which the fastest plan meets "
      "it")("least", po::value<std::string>()->default_value("", ""),
            "cluster.gpus, memory (of each GPU), or a resource of stepcast sensitivity, such as network");
  add_report_option(options);
  return asked_line(
      "usage: stepcast search SCENARIO.yaml|TABLE.csv|FOLDER|-... [OPTIONS]\n\n"
      "Finds the best parallel plans of a scenario's model on its cluster: sizes of tensor, context, pipeline, expert\n"
      "and data parallelism, micro-batch, recomputation, sequence parallelism, schedule, virtual stages and ZeRO. The\n"
      "scenario's own plan is where values that are not searched come from. What does not fit in memory is refused,\n"
      "what cannot be among the best is bounded away, the rest is simulated. docs/search.md says how. Of several\n"
      "scenarios, or a table's rows, each has its best plan beside its own.\n\n"
      "  stepcast search scenarios/quickstart.yaml --over parallelism.tensor=1,2,4,8 --fix data_parallel.zero\n"
      "  stepcast search scenarios/quickstart.yaml --emit yaml --output best.yaml\n"
      "  stepcast search scenarios/quickstart.yaml --emit megatron --output best.sh\n"
      "  stepcast search scenarios/quickstart.yaml --objective money --within '30 s' --set 'run.gpu_hour_price=2 USD'\n"
      "  stepcast search scenarios/quickstart.yaml --until 'step_time<15s' --least network\n\n"
      "Ctrl-C and SIGTERM end a search as a spent --budget does: with the best plans so far, and exit status 130 or\n"
      "143. Exit status 3: no plan fits in the GPUs' memory, or meets what --until asks for.",
      options);
}

search::Space space_asked(const Asked& asked, schedules::Scenario start, search::Objective objective) {
  return search_space(std::move(start), objective, asked.values["over"].as<std::vector<std::string>>(),
                      asked.values["fix"].as<std::vector<std::string>>());
}

/// "simulating: 30 of 240 plans, the best so far takes 9.31 s".
std::string state_text(const search::SearchState& state, bool stops) {
  std::string words = fmt::format("{}: {} of {} {}", state.simulating ? "simulating" : "screening", state.done,
                                  state.all, state.simulating ? "plans" : "layouts");
  if (state.best) words += ", the best so far takes " + text(*state.best);
  return words + (stops ? "; stopping, a second signal ends at once" : "");
}

/// `stop`: null where a signal ends the search without an answer.
search::SearchAnswer answer_of(const search::Space& space, search::SearchOptions options, workload::Machines& machines,
                               const StopSignals* stop) {
  const auto stops = [stop] { return stop != nullptr && stop->asked(); };
  std::mutex mutex;
  search::SearchState last;
  options.stopped = stops;
  options.watch = [&](const search::SearchState& state) {
    const std::lock_guard lock(mutex);
    if (state.simulating || state.done >= last.done) last = state;
  };
  const StatusLine line([&](double) {
    const std::lock_guard lock(mutex);
    return state_text(last, stops());
  });
  return search::search(space, options, machines);
}

/// Of each run the best plan.
std::vector<SearchedRun> searched(const Asked& asked, search::SearchOptions options,
                                  std::span<const language::Question> questions, workload::Machines& machines,
                                  const StopSignals& stop) {
  options.top = 1;
  std::vector<SearchedRun> runs;
  for (const language::Question& question : questions) {
    SearchedRun& run = runs.emplace_back(SearchedRun{question.name, question.error});
    if (run.error.empty() && stop.asked()) run.error = "not searched: a signal stopped the command";
    if (!run.error.empty()) continue;
    try {
      const search::Space space = space_asked(asked, question.scenario, options.objective);
      run.answer = answer_of(space, options, machines, &stop);
      if (!run.answer.best.empty()) run.settings = settings_of(space, run.answer.best.front());
    } catch (const InputError& error) {
      run.error = error.what();
    }
  }
  return runs;
}

/// Settings laid over the scenario that was asked about.
std::vector<std::string> settings_asked(const Asked& asked) {
  std::vector<std::string> settings = asked.settings;
  if (const auto profile = word(asked.values, "profile"); !profile.empty()) settings.push_back("profile=" + profile);
  return settings;
}

/// Why a framework cannot be told a plan of the scenario, or nothing.
std::function<std::string(const schedules::Scenario&)> untold(const Asked& asked,
                                                              const language::Framework& framework) {
  language::Library library(language::config_folders());
  const std::vector<std::vector<std::string>> layers{settings_asked(asked)};
  return [&framework,
          tree = launch_tree(asked.paths.front(), layers, library)](const schedules::Scenario& plan) -> std::string {
    try {
      language::emit(framework, plan, tree);
      return {};
    } catch (const InputError& why) {
      return why.what();
    }
  };
}

/// The best plan as a scenario, or as a framework is told it.
std::string emitted(const Asked& asked, const SearchReport& report, const language::Framework* framework) {
  const search::FoundPlan& best = report.answer.best.front();
  const std::vector<std::vector<std::string>> layers{settings_asked(asked), settings_of(report.space, best)};
  language::Library library(language::config_folders());
  if (framework != nullptr) return launch_text(*framework, best.scenario, asked.paths.front(), layers, library);
  return "# Found by stepcast search: a step takes " + text(best.forecast.step) + ".\n" +
         language::scenario_text(
             language::input_named(asked.paths.front()), layers, library,
             is_stdout(asked.output) ? std::filesystem::path(".") : std::filesystem::path(asked.output).parent_path());
}

/// Why there is no plan to emit.
std::string why_nothing(const search::SearchAnswer& answer, const language::Framework* framework) {
  if (answer.unwanted > 0)
    return fmt::format("{} cannot be told any plan of the space that fits; the first: {}", framework->title,
                       answer.why_unwanted);
  return answer.all_late() ? "no plan of the space that fits is as fast as asked" : "no plan of the space fits";
}

std::optional<std::uint64_t> budget_asked(const std::string& word) {
  constexpr std::uint32_t kMost = 1'000'000'000;
  if (word.empty()) return std::nullopt;
  return parse_count(word, "--budget", kMost);
}

search::SearchOptions options_asked(const Asked& asked) {
  search::SearchOptions options;
  options.objective = search_objective(word(asked.values, "objective"));
  const SearchLimits limits = search_limits(word(asked.values, "within"));
  options.within = limits.step;
  options.most_memory = limits.memory;
  options.top = parse_count(word(asked.values, "top"), "--top", kMostTop);
  options.budget = budget_asked(word(asked.values, "budget"));
  options.exhaustive = asked.values["exhaustive"].as<bool>();
  options.front = asked.values["front"].as<bool>();
  if (options.front && asked.format == Format::csv)
    throw InputError("--front", "found --format csv beside it, expected table or json");
  if (options.exhaustive && options.budget)
    throw InputError("--budget", "found beside --exhaustive, expected one of the two");
  return options;
}

/// Of several scenarios each has its best plan.
int search_each(const Asked& asked, const search::SearchOptions& options, std::span<const language::Question> questions,
                workload::Machines& machines) {
  const char* alone = asks_until(asked.values)                ? "--until"
                      : !word(asked.values, "emit").empty()   ? "--emit"
                      : options.front                         ? "--front"
                      : !word(asked.values, "report").empty() ? "--report"
                                                              : nullptr;
  if (alone != nullptr)
    throw InputError(alone, "found " + std::to_string(questions.size()) + " scenarios, expected one");
  const StopSignals stop;
  const std::vector<SearchedRun> runs = searched(asked, options, questions, machines, stop);
  write_output(asked.output, asked.format == Format::json  ? searched_runs_json(runs)
                             : asked.format == Format::csv ? searched_runs_csv(runs)
                                                           : searched_runs_table(runs));
  if (std::ranges::any_of(runs, [](const SearchedRun& run) { return run.answer.stopped; })) return stop.status();
  return std::ranges::all_of(runs, [](const SearchedRun& run) { return run.error.empty(); }) ? kDone : kFailed;
}

/// `page`: the file of --report, or nothing.
void write_found(const Asked& asked, const SearchReport& report, const std::string& page) {
  std::vector<NewFile> files;
  if (!page.empty()) {
    const PagePart part{.kind = "search", .title = report.space.start.name, .document = search_json(report)};
    files.push_back({page, html_page({&part, 1})});
  }
  files.push_back({asked.output, asked.format == Format::json  ? search_json(report)
                                 : asked.format == Format::csv ? search_csv(report)
                                                               : search_table(report)});
  write_files(files);
}

/// Gives a scenario that leaves its plan to the search one to start from, and says so.
void start_somewhere(Asked& asked) {
  language::Library library(language::config_folders());
  const std::vector<std::string> start = search_start(asked.paths, settings_asked(asked), library);
  if (start.empty()) return;
  std::fprintf(stderr, "stepcast search: the scenario leaves open where to start; its own plan is that with %s\n",
               fmt::format("{}", fmt::join(start, " ")).c_str());
  asked.settings.insert(asked.settings.end(), start.begin(), start.end());
}

int search_plans(const std::vector<std::string>& words) {
  auto asked = parse_asked(words, search_line());
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast search", "no scenario given; try scenarios/quickstart.yaml");
  search::SearchOptions options = options_asked(*asked);
  const std::string emit = word(asked->values, "emit");
  const language::Framework* framework = emit.empty() || emit == "yaml" ? nullptr : &emitted_framework(emit);
  if (!emit.empty() && asked->format != Format::table)
    throw InputError("--emit", "found --format json or csv beside it, expected one of the two");

  const std::string page = report_asked(asked->values);
  refuse_beside(asked->values, "report", {"emit", "until"});
  refuse_beside(asked->values, "within", {"until"});
  refuse_beside(asked->values, "emit", {"front"});
  start_somewhere(*asked);
  auto questions = questions_asked(*asked, {{"--report", page}});
  if (!questions) return kBadInput;
  keep_freed_memory();
  const calibrate::MostThreads limit(asked->threads);
  workload::Machines machines(kMachineBytes);
  if (questions->size() != 1) return search_each(*asked, options, *questions, machines);
  const language::Question& question = questions->front();
  if (!question.error.empty()) throw InputError("", question.error);
  if (!emit.empty() && (question.of_table || language::is_stream(question.file)))
    throw InputError("--emit", "found a table or a stream, expected a scenario file (.yaml), which is read once more");

  if (asks_until(asked->values)) {
    const bool fewest = word(asked->values, "least") == "cluster.gpus";
    options.top = 1;
    return search_until(
        *asked, space_asked(*asked, question.scenario, fewest ? search::Objective::gpus : search::Objective::step_time),
        [&](const search::Space& space) { return answer_of(space, options, machines, nullptr); });
  }
  if (framework != nullptr) options.unwanted = untold(*asked, *framework);
  const search::Space space = space_asked(*asked, question.scenario, options.objective);
  const StopSignals stop;
  const SearchReport report = search_report(space, answer_of(space, options, machines, &stop), options.objective);
  const std::vector<search::FoundPlan>& best = report.answer.best;
  if (best.empty() && report.answer.stopped) {
    std::fputs("stepcast search: stopped before any plan was found\n", stderr);
    return stop.status();
  }
  if (!emit.empty() && best.empty()) throw InputError("--emit", why_nothing(report.answer, framework));
  if (!emit.empty())
    write_output(asked->output, emitted(*asked, report, framework));
  else
    write_found(*asked, report, page);
  if (report.answer.stopped) return stop.status();
  return best.empty() ? kDoesNotFit : kDone;
}

}  // namespace

extern const Command search_command;
constinit const Command search_command{"search", "the best parallel plans of a model on a cluster, with a proof",
                                       search_line, search_plans};

}  // namespace stepcast::app
