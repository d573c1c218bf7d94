#include "app/fit_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <tuple>

#include "app/answers.h"
#include "app/command.h"
#include "app/diff/diff_report.h"
#include "app/doubtful_runs.h"
#include "app/log_file.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/calibration.h"
#include "app/report/comparison.h"
#include "app/report/percent.h"
#include "app/status_line.h"
#include "calibrate/fit/network_shares.h"
#include "calibrate/fit/run_fit.h"
#include "calibrate/fit/statistics.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/stated.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "language/questions.h"
#include "language/scenario_text.h"
#include "language/tables/bus_bandwidths.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using calibrate::FittedRun;
using calibrate::RunFit;
using schedules::RunOutcome;

/// A step of a run, as a profiler recorded it.
struct TracedRun {
  std::string file;  ///< as messages call it
  calibrate::StepTrace step;
};

/// Why a run is not fitted to.
enum class NotFitted : std::uint8_t { failed, unmeasured, no_forecast };

/// Runs that are not, for one reason.
struct LeftOutRuns {
  std::size_t rows = 0;
  std::string first;  ///< its name, and what is wrong with it where that is more than the reason
};

/// What was measured and can be forecast; and what was said of the others.
struct Runs {
  std::vector<language::Question> fitted, others;
  std::map<std::string, TracedRun> traces;  ///< by the run's origin
  language::Node stack;                     ///< of all that are fitted, as a file says it: a base and what is over it
  std::map<NotFitted, LeftOutRuns> left_out;
};

/// So many of the runs; all others are forecast with what was fitted to these. In the order of whether they
/// have several stages, of the nodes that tensor ranks are on, and of their GPUs they are cut into as many parts, and a
/// seed chooses one of each: so that they are of all kinds, for a constant shows in plans of one kind.
void choose(Runs& runs, std::uint32_t rows, std::uint32_t seed) {
  if (rows >= runs.fitted.size()) return;
  const auto kind = [](const language::Question& question) {
    const schedules::Scenario& s = question.scenario;
    return std::tuple(s.parallelism.pipeline > 1, nodes_filled(s.cluster, s.parallelism.tensor), s.cluster.gpus,
                      s.parallelism.tensor, s.parallelism.pipeline, s.training.micro_batch);
  };
  std::ranges::stable_sort(runs.fitted, {}, kind);
  std::mt19937_64 random(seed);
  const std::size_t all = runs.fitted.size();
  std::vector<language::Question> chosen;
  for (std::size_t part = 0, next = 0; part < rows; ++part) {
    const std::size_t first = next;
    next = all * (part + 1) / rows;
    const std::size_t one = first + random() % (next - first);
    for (std::size_t i = first; i < next; ++i) (i == one ? chosen : runs.others).push_back(std::move(runs.fitted[i]));
  }
  runs.fitted = std::move(chosen);
}

Time compute_of(const calibrate::StepTrace& step) {
  using calibrate::TracePart;
  Time compute{};
  for (const TracePart part : {TracePart::multiplies, TracePart::attention, TracePart::memory_bound,
                               TracePart::optimizer, TracePart::unclassed})
    compute += step.part(part);
  return compute;
}

/// Reads the trace that a run names. Where the run does not say what its step took, it took what the trace shows.
void read_trace(language::Question& run, Runs& runs) {
  schedules::Measured& measured = run.scenario.measured;
  const LogFile log = read_log_file(measured.trace);
  if (!log.kernels)
    throw InputError(log.shown, "found no trace, which measured.trace of " + in_quotes(run.name) +
                                    " names; expected one of the PyTorch profiler (JSON) or an export of Nsight "
                                    "Systems (SQLite, JSON)");
  calibrate::StepTrace step = step_of(log, {.steps = measured.trace_steps});
  if (step.length == Time{}) throw InputError(log.shown, "found a step of no length");
  if (!measured.step_time) measured.step_time = step.length;
  if (*measured.step_time < compute_of(step))
    throw InputError(run.origin, fmt::format("measured.step_time: found {:.6g} s, less than the {:.6g} s that kernels "
                                             "take in a step of {}",
                                             to_seconds(*measured.step_time), to_seconds(compute_of(step)), log.shown));
  runs.traces.emplace(run.origin, TracedRun{log.shown, std::move(step)});
}

/// What a run says below `software`, as a file of `folder` says it: a base, and over it what the run says of its own.
language::Node stack_of(const language::Question& run, const std::filesystem::path& folder) {
  language::Node scenario = language::make_mapping(run.software.place);
  scenario.entries.push_back({"software", run.software.place, run.software});
  language::Node said = std::move(language::with_files_from(std::move(scenario), folder).entries.front().value);
  language::Node stack = language::make_mapping(said.place);
  if (said.find("base") == nullptr && said.find("include") == nullptr) {
    const bool named = said.kind == language::Node::Kind::scalar;
    stack.entries.push_back(
        {"base", said.place, named ? said : language::make_scalar(run.scenario.software.name, said.place)});
  }
  for (language::Entry& entry : said.entries)
    if (entry.key != "name" && entry.key != "source") stack.entries.push_back(std::move(entry));
  std::ranges::stable_sort(stack.entries, {}, [](const language::Entry& entry) { return entry.key != "base"; });
  return stack;
}

/// A stack as messages call it.
std::string stack_name(const language::Node& stack) {
  const language::Node* base = stack.find("base");
  return stack.entries.size() == 1 && base != nullptr ? base->scalar : language::on_one_line(stack);
}

/// Why a run is not fitted to; nothing: it is.
std::optional<NotFitted> why_left_out(const language::Question& run) {
  const schedules::Measured& measured = run.scenario.measured;
  if (!run.error.empty()) return NotFitted::no_forecast;
  if (measured.outcome != RunOutcome::ran) return NotFitted::failed;
  if (!measured.step_time && !measured.peak_memory) return NotFitted::unmeasured;
  return std::nullopt;
}

/// The same in words: what such a run did, or runs did.
std::string_view words_of(NotFitted why) {
  switch (why) {
    case NotFitted::failed:
      return "failed when measured (measured.outcome), and a run that made no step, as one that ran out of memory, has "
             "no step time to fit to";
    case NotFitted::unmeasured:
      return "had nothing measured, neither measured.step_time nor measured.trace nor measured.peak_memory";
    case NotFitted::no_forecast:
      break;
  }
  return "cannot be forecast";
}

/// What is said of the runs that are not fitted to, for each reason.
std::vector<std::string> left_out_lines(const Runs& runs) {
  std::vector<std::string> lines;
  for (const auto& [why, left] : runs.left_out)
    lines.push_back(fmt::format("{} not used: {} {}; the first, {}",
                                left.rows == 1 ? "1 row is" : fmt::format("{} rows are", left.rows),
                                left.rows == 1 ? "it" : "they", words_of(why), left.first));
  return lines;
}

/// The one stack of all runs that are fitted.
language::Node one_stack(const std::vector<language::Question>& runs, const std::filesystem::path& folder) {
  std::map<std::string, std::size_t> stacks;
  for (const language::Question& run : runs) ++stacks[stack_name(stack_of(run, folder))];
  if (stacks.size() > 1) {
    std::string found;
    for (const auto& [name, count] : stacks) found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", name, count);
    throw InputError("--runs", "found runs of several stacks: " + found + "; fit the runs of one at a time");
  }
  return stack_of(runs.front(), folder);
}

/// `folder`: where the file that is written will stand.
Runs read_runs(const std::vector<std::string>& paths, const std::vector<std::string>& settings,
               const std::filesystem::path& folder, language::Library& library) {
  Runs runs;
  for (language::Question& question : language::read_questions(paths, settings, library)) {
    if (question.error.empty() && !question.scenario.measured.trace.empty()) read_trace(question, runs);
    const std::optional<NotFitted> why = why_left_out(question);
    if (!why) {
      runs.fitted.push_back(std::move(question));
      continue;
    }
    LeftOutRuns& left = runs.left_out[*why];
    if (left.rows++ == 0)
      left.first = language::visible(
          question.name + (question.error.empty() ? "" : ": " + question.error.substr(0, question.error.find('\n'))));
  }
  if (runs.fitted.empty())
    throw InputError(paths.front(), fmt::format("no run there can be forecast and says measured.step_time, "
                                                "measured.trace or measured.peak_memory; {}",
                                                fmt::join(left_out_lines(runs), "; ")));
  runs.stack = one_stack(runs.fitted, folder);
  return runs;
}

std::vector<schedules::Scenario> scenarios(const std::vector<language::Question>& questions) {
  std::vector<schedules::Scenario> out;
  for (const language::Question& question : questions) {
    out.push_back(question.scenario);
    out.back().name = question.name;
  }
  return out;
}

/// Median and mean of the absolute errors of what was predicted, as two words; "-" where nothing was.
std::string errors_text(const std::vector<double>& errors) {
  if (errors.empty()) return "-";
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return fmt::format("median {:.1f} %, mean {:.1f} % of {}", 100 * *calibrate::median(sizes),
                     100 * *calibrate::mean_absolute(errors), errors.size());
}

std::vector<double> errors_of(std::span<const FittedRun> runs, std::optional<double> FittedRun::*predicted,
                              std::optional<double> FittedRun::*measured) {
  std::vector<double> errors;
  for (const FittedRun& run : runs)
    if (run.*predicted && run.*measured) errors.push_back(*(run.*predicted) / *(run.*measured) - 1);
  return errors;
}

std::string comment(const calibrate::ProfileConstant& c) {
  if (!c.estimate.identified) return "not told: " + c.estimate.why;
  return "95 %: " + constant_text(c.unit, c.estimate.low) + " to " + constant_text(c.unit, c.estimate.high);
}

bool fitted(const RunFit& fit, std::string_view key) {
  const auto found = std::ranges::find(fit.constants, key, &calibrate::ProfileConstant::key);
  return found != fit.constants.end() && found->estimate.identified;
}

/// A file for `software:`, over what the runs `said` of their stack, which is called `stack`.
std::string software_yaml(const RunFit& fit, const std::string& stack, language::Node said, const std::string& source) {
  language::Node transport = language::make_mapping(said.place);
  std::erase_if(said.entries, [&](const language::Entry& entry) {
    if (entry.key == "transport") transport = entry.value;
    return entry.key == "transport" || fitted(fit, entry.key);
  });
  std::string out = "name: " + language::quoted(stack + "-fitted") + "\n" + language::yaml_text(said), shares;
  for (const calibrate::ProfileConstant& c : fit.constants) {
    if (c.key.starts_with("network")) {
      shares += fmt::format("# {}: {}  ({})\n", c.key, constant_text(c.unit, c.estimate.value), comment(c));
    } else if (c.estimate.identified) {
      out += fmt::format("{}: {}  # {}\n", c.key, constant_text(c.unit, c.estimate.value), comment(c));
    } else {
      out += fmt::format("# {} as in {}: {}\n", c.key, stack, comment(c));
    }
  }
  out += shares;
  if (!fit.network_shares.empty()) {
    std::string list;
    for (const collectives::ShareOverNodes& each : fit.network_shares)
      list += fmt::format("{}{:.4f} at {}", list.empty() ? "" : ", ", each.share, each.nodes);
    std::erase_if(transport.entries, [](const language::Entry& entry) { return entry.key == "network_shares"; });
    transport.entries.push_back(
        {"network_shares", transport.place, language::make_list("[" + list + "]", transport.place)});
  }
  if (!transport.entries.empty()) {
    language::Node block = language::make_mapping(transport.place);
    block.entries.push_back({"transport", transport.place, std::move(transport)});
    out += language::yaml_text(block);
  }
  return out + "source: >-\n  " + source + "\n";
}

/// What is wrong where even with what was fitted most runs take far more than is forecast; "" where they do not.
std::string far_off(const RunFit& fit) {
  constexpr double kFar = 1.25;
  std::vector<double> times;
  for (const FittedRun& run : fit.runs)
    if (run.measured_s) times.push_back(*run.measured_s / *run.predicted_s);
  const std::optional<double> median = calibrate::median(times);
  if (!median || *median < kFar) return "";
  return fmt::format(
      "measured.step_time: with what was fitted the runs still take {:.2g} times what is forecast, in the median. No "
      "constant explains so much: is it in another unit, and are cluster, model and plan theirs?",
      *median);
}

std::string fitted_runs(const RunFit& fit) {
  std::string out;
  for (const FittedRun& run : fit.runs) {
    out += "# " + language::visible(run.name);
    if (run.measured_s)
      out += fmt::format(": {:.4g} s measured, {} predicted, {} by a fit without it", *run.measured_s,
                         signed_percent(*run.predicted_s / *run.measured_s - 1),
                         signed_percent(*run.held_out_s / *run.measured_s - 1));
    if (run.measured_bytes)
      out += fmt::format("{} memory {}, {}", run.measured_s ? ";" : ":",
                         signed_percent(*run.predicted_bytes / *run.measured_bytes - 1),
                         signed_percent(*run.held_out_bytes / *run.measured_bytes - 1));
    out += '\n';
  }
  return out;
}

/// Where the steps of runs with a trace went, beside their forecasts with what was fitted: as `stepcast diff` tells it.
std::string traced_runs(const RunFit& fit, const Runs& runs) {
  std::string out;
  for (const language::Question& run : runs.fitted) {
    const auto traced = runs.traces.find(run.origin);
    if (traced == runs.traces.end()) continue;
    Answer answer{run, {}, {}};
    answer.question.scenario = with(fit, run.scenario);
    workload::Machines machines;
    schedules::ForecastOptions options;
    options.time_details = true;
    options.advise = false;
    answer.forecast = schedules::forecast(answer.question.scenario, machines, options);
    const DiffSide a = side_of_forecast(answer);
    const DiffSide b = side_of_trace(traced->second.step, traced->second.file, &run.scenario);
    const std::string text =
        fmt::format("\n{}. A: forecast with this file, {:.6g} s; B: {} of {}, {:.6g} s\n\n{}",
                    language::visible(run.name), to_seconds(a.step), language::visible(b.name),
                    language::visible(b.file), to_seconds(b.step), diff_parts(a, b, difference(a, b, {}), 0));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += line.empty() ? "#\n" : "# " + line + "\n";
  }
  return out;
}

/// How the runs that were not fitted to come out.
std::string tried_on(const RunFit& fit, std::vector<language::Question> others) {
  for (language::Question& question : others) question.scenario = with(fit, std::move(question.scenario));
  const std::vector<Answer> answers = answer(std::move(others), {});
  const Comparison comparison = compare(answers, {});
  std::vector<double> times, memory, ranks;
  for (const ComparedRow& row : comparison.rows) {
    if (row.error) times.push_back(*row.error);
    if (row.measured_bytes && row.predicted_bytes)
      memory.push_back(static_cast<double>(*row.predicted_bytes) / static_cast<double>(*row.measured_bytes) - 1);
  }
  for (const ComparedTable& table : comparison.tables)
    if (table.rank_correlation) ranks.push_back(*table.rank_correlation);
  std::string out =
      fmt::format("# runs that were not fitted to: step {}; memory {}\n", errors_text(times), errors_text(memory));
  if (!ranks.empty())
    out +=
        fmt::format("# rank correlation of their steps: mean {:.2f} of {} tables\n",
                    std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size()), ranks.size());
  return out;
}

}  // namespace

int fit_to_runs(const std::vector<std::string>& paths, const boost::program_options::variables_map& values) {
  language::Library library(language::config_folders());
  const auto output = word(values, "output");
  Runs runs = read_runs(paths, values["set"].as<std::vector<std::string>>(),
                        std::filesystem::path(output).parent_path(), library);
  std::vector<std::filesystem::path> inputs = library.files();
  for (const std::string& path : paths) inputs.emplace_back(language::input_named(path));
  for (const auto* questions : {&runs.fitted, &runs.others})
    for (const language::Question& run : *questions) {
      if (inputs.empty() || inputs.back() != run.file) inputs.push_back(run.file);
      if (!run.scenario.measured.trace.empty()) inputs.emplace_back(run.scenario.measured.trace);
    }
  const std::string network_file = word(values, "network");
  if (!network_file.empty()) inputs.emplace_back(language::input_named(network_file));
  check_outputs(std::array{named_output(output)}, inputs);
  tell_doubts(runs.fitted);
  const std::uint32_t rows = parse_count(word(values, "rows"), "--rows", 1'000'000);
  if (rows > 0) choose(runs, rows, values["seed"].as<std::uint32_t>());

  std::vector<collectives::ShareOverNodes> network;
  if (!network_file.empty()) {
    const std::string shown = language::shown_path(inputs.back());
    const schedules::Scenario& first = runs.fitted.front().scenario;
    network =
        calibrate::network_shares(language::parse_bus_bandwidths(language::read_file(inputs.back(), shown), shown),
                                  first.cluster, first.software.transport);
  }
  std::vector<std::optional<Time>> compute;
  std::vector<std::string> profiled;
  for (const language::Question& run : runs.fitted) {
    for (const language::ProfiledKey& each : run.profiled) profiled.push_back(each.key);
    const auto traced = runs.traces.find(run.origin);
    compute.push_back(traced == runs.traces.end() ? std::nullopt : std::optional(compute_of(traced->second.step)));
  }
  const RunFit fit = said_meanwhile(fmt::format("fitting to {} runs", runs.fitted.size()), [&] {
    return calibrate::fit_runs(scenarios(runs.fitted), network, compute, profiled);
  });

  std::string names;
  for (const std::string& path : paths)
    names += (names.empty() ? "" : ", ") + language::visible(language::shown_path(path));
  const std::string source = fmt::format(
      "Fitted by stepcast fit --runs to {} runs of {}{}{}. Each constant's interval is beside it; runs and errors "
      "below.",
      fit.runs.size(), names,
      !runs.others.empty() ? fmt::format(", chosen with seed {}", values["seed"].as<std::uint32_t>()) : "",
      network_file.empty() ? "" : " and the network's bus bandwidths in " + language::visible(network_file));
  std::string text = software_yaml(fit, runs.fitted.front().scenario.software.name, runs.stack, source);
  text += fmt::format("# step: {}; by a fit without the run: {}\n",
                      errors_text(errors_of(fit.runs, &FittedRun::predicted_s, &FittedRun::measured_s)),
                      errors_text(errors_of(fit.runs, &FittedRun::held_out_s, &FittedRun::measured_s)));
  text += fmt::format("# memory: {}; by a fit without the run: {}\n",
                      errors_text(errors_of(fit.runs, &FittedRun::predicted_bytes, &FittedRun::measured_bytes)),
                      errors_text(errors_of(fit.runs, &FittedRun::held_out_bytes, &FittedRun::measured_bytes)));
  if (const std::string wrong = far_off(fit); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    text += "# " + wrong + "\n";
  }
  for (const std::string& left : left_out_lines(runs)) {
    std::fprintf(stderr, "%s\n", left.c_str());
    text += "# " + left + "\n";
  }
  if (!runs.others.empty()) text += tried_on(fit, std::move(runs.others));
  write_output(output, text + fitted_runs(fit) + traced_runs(fit, runs));
  return kDone;
}

}  // namespace stepcast::app
