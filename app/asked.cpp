#include "app/asked.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "app/read/config_folders.h"
#include "app/read/residuals.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::uint32_t kMostThreads = 4096;

}  // namespace

CommandLine asked_line(const std::string& usage, const boost::program_options::options_description& more) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE laid over every scenario; may be repeated")
      ("profile", po::value<std::string>()->default_value("", ""), "a calibration's output laid over every scenario, as --set profile=FILE")
      ("format", po::value<std::string>()->default_value("table"), "table, json or csv")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output")
      ("threads", po::value<std::string>()->default_value("", "all"), "scenarios forecast at the same time");
  // clang-format on
  for (const auto& option : more.options()) options.add(option);
  return {usage, options};
}

std::optional<Asked> parse_asked(const std::vector<std::string>& words, const CommandLine& line) {
  const auto values = parse_options(words, line);
  if (!values) return std::nullopt;
  auto settings = (*values)["set"].as<std::vector<std::string>>();
  const auto profile = (*values)["profile"].as<std::string>();
  if (!profile.empty()) settings.insert(settings.begin(), "profile=" + profile);
  return Asked{*values,
               (*values)["path"].as<std::vector<std::string>>(),
               std::move(settings),
               parse_format((*values)["format"].as<std::string>()),
               (*values)["output"].as<std::string>(),
               parse_count((*values)["threads"].as<std::string>(), "--threads", kMostThreads)};
}

std::optional<std::vector<Question>> questions_asked(const Asked& asked) {
  Library library(config_folders());
  std::vector<Question> questions = read_questions(asked.paths, asked.settings, library);
  bool all_can_run = true;
  for (const Question& question : questions) {
    if (question.from_table || question.error.empty()) continue;
    std::fprintf(stderr, "%s\n", question.error.c_str());
    all_can_run = false;
  }
  if (!all_can_run) return std::nullopt;
  return questions;
}

bool some_table_failed(std::span<const Answer> answers) {
  std::vector<std::string> tables, failed;
  for (const Answer& a : answers)
    if (std::ranges::find(tables, a.question.table) == tables.end()) tables.push_back(a.question.table);
  std::ranges::copy_if(tables, std::back_inserter(failed), [&](const std::string& table) {
    return std::ranges::none_of(answers, [&](const Answer& a) { return a.question.table == table && a.forecast; });
  });
  for (const std::string& table : failed) std::fprintf(stderr, "%s: no row could be run\n", table.c_str());
  return !failed.empty();
}

std::vector<calibrate::Residual> measured_residuals() { return read_residuals(config_file("residuals.csv")); }

}  // namespace stepcast::app
