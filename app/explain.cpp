#include "app/explain.h"

#include <algorithm>

#include "calibrate/confidence/neighbours.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::size_t kNeighbours = 16;

bool compared(const Answer& a) { return a.forecast && a.question.scenario.measured.step_time; }

}  // namespace

calibrate::Explanation explain(std::span<const Answer> answers, const std::string& name) {
  const auto name_of = [](const Answer& a) -> const std::string& { return a.question.name; };
  const auto row = std::ranges::find(answers, name, name_of);
  if (row == answers.end()) {
    std::vector<std::string_view> names;
    for (const Answer& a : answers) names.push_back(a.question.name);
    throw InputError("--explain",
                     "found no row named " + in_quotes(name) + ", expected " + language::one_of(name, names));
  }
  if (const auto rows = std::ranges::count(answers, name, name_of); rows > 1)
    throw InputError("--explain", "found " + std::to_string(rows) + " rows named " + in_quotes(name) + ", the first " +
                                      row->question.origin + "; expected one");
  if (!row->forecast) throw InputError("--explain " + name, "the row cannot run: " + row->question.error);
  if (!compared(*row)) throw InputError("--explain " + name, "found no measured.step_time, expected one");
  std::vector<const schedules::Scenario*> others;
  for (const Answer& a : answers)
    if (&a != &*row && compared(a)) others.push_back(&a.question.scenario);
  return calibrate::explain(row->question.scenario, calibrate::neighbours(row->question.scenario, others, kNeighbours));
}

}  // namespace stepcast::app
