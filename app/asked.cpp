#include "app/asked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "language/configs/config_folders.h"
#include "language/tables/residuals.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostThreads = 4096;

}  // namespace

CommandLine asked_line(const std::string& usage, const boost::program_options::options_description& more,
                       std::vector<std::string> formats) {
  namespace po = boost::program_options;
  const std::string words =
      fmt::format("{} or {}", fmt::join(formats.begin(), formats.end() - 1, ", "), formats.back());
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE laid over every scenario; may be repeated")
      ("profile", po::value<std::string>()->default_value("", ""), "a calibration's output laid over every scenario, as --set profile=FILE")
      ("format", po::value<std::string>()->default_value("table"), words.c_str())
      ("output", po::value<std::string>()->default_value("", ""), "write to this file; -: standard output")
      ("threads", po::value<std::string>()->default_value("", "all"), "scenarios forecast at the same time");
  // clang-format on
  for (const auto& option : more.options()) options.add(option);
  return {.usage = usage, .options = options, .formats = std::move(formats), .sets_scenarios = true};
}

std::optional<Asked> parse_asked(const std::vector<std::string>& words, const CommandLine& line) {
  const auto values = parse_options(words, line);
  if (!values) return std::nullopt;
  return Asked{*values,
               (*values)["path"].as<std::vector<std::string>>(),
               (*values)["set"].as<std::vector<std::string>>(),
               parse_format((*values)["format"].as<std::string>(), line.formats),
               (*values)["output"].as<std::string>(),
               parse_count((*values)["threads"].as<std::string>(), "--threads", kMostThreads)};
}

std::optional<std::vector<language::Question>> questions_asked(const Asked& asked, std::vector<NamedFile> outputs,
                                                               std::vector<std::filesystem::path> inputs,
                                                               const language::MoreChecks& more,
                                                               const MoreOutputs& more_outputs) {
  outputs.insert(outputs.begin(), named_output(asked.output));
  check_outputs(outputs, inputs);
  language::Library library(language::config_folders());
  std::vector<language::Given> options;
  if (const auto profile = asked.values["profile"].as<std::string>(); !profile.empty())
    options.push_back({"profile", profile, {"--profile", 0, 0}});
  std::vector<language::Question> questions =
      language::read_questions(asked.paths, asked.settings, library, std::move(options), more);
  inputs = library.files();
  for (const language::Question& question : questions)
    if (inputs.empty() || inputs.back() != question.file) inputs.push_back(question.file);
  if (more_outputs) std::ranges::move(more_outputs(questions), std::back_inserter(outputs));
  check_outputs(outputs, inputs);
  bool all_can_run = true;
  for (const language::Question& question : questions) {
    if (question.among_others || question.error.empty()) continue;
    std::fprintf(stderr, "%s\n", question.error.c_str());
    all_can_run = false;
  }
  if (!all_can_run) return std::nullopt;
  return questions;
}

namespace {

/// A plan that is refused, and did not run when it was tried.
bool failed_as_measured(const Answer& answer) {
  return answer.question.refused && answer.question.scenario.measured.outcome == schedules::RunOutcome::failed;
}

}  // namespace

bool some_failed(std::span<const Answer> answers) {
  std::vector<const language::Question*> failed;
  for (const Answer& each : answers)
    if (!each.forecast && !failed_as_measured(each)) failed.push_back(&each.question);
  return some_failed(failed, answers.size());
}

bool some_failed(std::span<const language::Question* const> failed, std::size_t all) {
  if (failed.empty()) return false;
  const auto mistake = std::ranges::find_if(failed, &language::Question::internal_error);
  const language::Question& first = mistake != failed.end() ? **mistake : *failed.front();
  std::fprintf(stderr, "%zu of %zu rows could not be run; %s: %s\n", failed.size(), all,
               first.internal_error ? "one for a mistake of stepcast's" : "the first",
               first.error.substr(0, first.error.find('\n')).c_str());
  return true;
}

std::vector<calibrate::Residual> measured_residuals() {
  return language::read_residuals(language::config_file("residuals.csv"));
}

}  // namespace stepcast::app
