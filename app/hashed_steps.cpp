#include "app/hashed_steps.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/hashings.h"
#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

/// One copy of the question for each hashing; none, and the question's error, where it cannot have them.
std::vector<language::Question> copies(language::Question& question, std::uint32_t seeds) {
  if (!question.error.empty()) return {};
  std::vector<language::Question> all;
  try {
    for (schedules::ClusterSpec& cluster : hashings(question.scenario.cluster, seeds)) {
      all.push_back(question);
      all.back().scenario.cluster = std::move(cluster);
    }
  } catch (const InputError& e) {
    if (!question.among_others) throw InputError("", question.origin + ": " + e.what());
    question.error = language::visible(question.origin + ": " + e.what());
  }
  return all;
}

HashedSteps over_hashings(language::Question question, std::uint32_t seeds, const AnswerOptions& options) {
  HashedSteps result{.question = std::move(question), .seconds = {}};
  std::vector<double> seconds;
  for (const Answer& each : answer(copies(result.question, seeds), options)) {
    if (!each.forecast) {
      if (!result.question.among_others) throw InputError("", each.question.error);
      result.question = each.question;
      return result;
    }
    seconds.push_back(to_seconds(each.forecast->step));
    result.fits = result.fits && !each.forecast->out_of_memory;
  }
  if (!seconds.empty()) result.seconds = spread(std::move(seconds));
  return result;
}

/// What is said of a step in each format, in this order.
std::array<std::pair<const char*, double HashingSpread::*>, 4> figures() {
  return {{{"least", &HashingSpread::least},
           {"median", &HashingSpread::median},
           {"p95", &HashingSpread::p95},
           {"most", &HashingSpread::most}}};
}

}  // namespace

std::vector<HashedSteps> steps_over_hashings(std::vector<language::Question> questions, std::uint32_t seeds,
                                             const AnswerOptions& options) {
  std::vector<HashedSteps> all;
  all.reserve(questions.size());
  for (language::Question& question : questions) all.push_back(over_hashings(std::move(question), seeds, options));
  return all;
}

std::string hashed_steps_table(const std::vector<HashedSteps>& all, std::uint32_t seeds) {
  std::vector<TextTable::Column> head{{"scenario", TextTable::Align::left}};
  for (const auto& [name, member] : figures()) head.push_back({name});
  head.push_back({"", TextTable::Align::left});
  TextTable table(head);
  for (const HashedSteps& steps : all) {
    std::vector<std::string> cells{steps.question.name};
    for (const auto& [name, member] : figures())
      cells.push_back(steps.seconds ? text(from_seconds((*steps.seconds).*member)) : "");
    cells.push_back(!steps.question.error.empty() ? steps.question.error : steps.fits ? "" : "does not fit in memory");
    table.add(std::move(cells));
  }
  return fmt::format("step time over {} hashings of the fabric\n", seeds) + table.text();
}

std::string hashed_steps_json(const std::vector<HashedSteps>& all, std::uint32_t seeds) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const HashedSteps& steps : all) {
    nlohmann::ordered_json out{{"name", steps.question.name}, {"hashings", seeds}};
    for (const auto& [name, member] : figures())
      out[fmt::format("step_time_{}_s", name)] =
          steps.seconds ? nlohmann::ordered_json((*steps.seconds).*member) : nlohmann::ordered_json(nullptr);
    out["fits"] = steps.seconds ? nlohmann::ordered_json(steps.fits) : nlohmann::ordered_json(nullptr);
    out["error"] =
        steps.question.error.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(steps.question.error);
    results.push_back(std::move(out));
  }
  return json_text({{"results", std::move(results)}});
}

std::string hashed_steps_csv(const std::vector<HashedSteps>& all, std::uint32_t seeds) {
  std::vector<std::string> head{"name", "hashings"};
  for (const auto& [name, member] : figures()) head.push_back(fmt::format("step_time_{}_s", name));
  head.insert(head.end(), {"fits", "error"});
  std::string lines = csv_line(head);
  for (const HashedSteps& steps : all) {
    std::vector<std::string> cells{steps.question.name, std::to_string(seeds)};
    for (const auto& [name, member] : figures())
      cells.push_back(steps.seconds ? fmt::format("{}", (*steps.seconds).*member) : "");
    cells.insert(cells.end(), {!steps.seconds ? "" : steps.fits ? "true" : "false", steps.question.error});
    lines += csv_line(cells);
  }
  return lines;
}

}  // namespace stepcast::app
