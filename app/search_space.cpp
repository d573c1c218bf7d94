#include "app/search_space.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "app/asked.h"
#include "app/split.h"
#include "calibrate/confidence/traits.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

/// In ascending order, each once.
void add_values(std::vector<std::int64_t>& values, const std::vector<std::int64_t>& more) {
  values.insert(values.end(), more.begin(), more.end());
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Its place in search::axes(). Throws InputError at `option` for a key that is no axis.
std::size_t axis_of(const char* option, const std::string& key) {
  try {
    return search::axis_named(option, key);
  } catch (const InputError& unknown) {
    std::vector<std::string_view> keys;
    for (const search::SearchAxis& axis : search::axes()) keys.push_back(axis.key);
    if (key == "parallelism.data") throw;  // said to be what the other sizes leave
    throw InputError("", unknown.what() + language::did_you_mean(key, keys));
  }
}

/// "a,b,c", of which none is empty and none stands twice.
std::vector<std::int64_t> values_of(const search::SearchAxis& axis, const std::string& list) {
  std::vector<std::int64_t> values;
  for (const std::string& word : split(list, ',')) {
    const std::int64_t value = search::read_value(axis, "--over", word);
    if (std::ranges::find(values, value) != values.end())
      throw InputError("--over", std::string(axis.key) + ": found " + in_quotes(word) + " twice, expected once");
    values.push_back(value);
  }
  add_values(values, {});
  return values;
}

}  // namespace

search::Objective search_objective(const std::string& name, const std::string& place) {
  static constexpr std::array<std::string_view, 5> kNames{"step_time", "memory", "gpus", "money", "energy"};
  const auto known = std::ranges::find(kNames, name);
  if (known == kNames.end())
    throw InputError(place, "found " + in_quotes(name) + ", expected " +
                                language::one_of(name, std::vector<std::string_view>(kNames.begin(), kNames.end())));
  return static_cast<search::Objective>(known - kNames.begin());
}

SearchLimits search_limits(const std::string& words, const std::string& place) {
  SearchLimits limits;
  if (words.empty()) return limits;
  for (std::string word : split(words, ',')) {
    word.erase(0, word.find_first_not_of(' '));
    const std::optional<Time> step = parse_time(word);
    const std::optional<Bytes> memory = parse_bytes(word);
    if ((!step || *step <= Time{}) && (!memory || *memory <= Bytes{}))
      throw InputError(place,
                       "found " + in_quotes(word) + ", expected a time such as '10 s' or memory such as '60 GiB'");
    if (step ? limits.step.has_value() : limits.memory.has_value())
      throw InputError(place, "found " + in_quotes(words) + ", expected one time and one size of memory at most");
    if (step) limits.step = step;
    if (memory) limits.memory = memory;
  }
  return limits;
}

search::Space search_space(schedules::Scenario start, search::Objective objective, std::span<const std::string> over,
                           std::span<const std::string> fix) {
  search::Space space = search::usual_space(std::move(start));
  if (objective == search::Objective::gpus)
    space.values[search::axis_named("", "cluster.gpus")] = search::smaller_clusters(space.start);
  std::set<std::size_t> said;
  const auto once = [&](const char* option, const std::string& key) {
    const std::size_t axis = axis_of(option, key);
    if (!said.insert(axis).second) throw InputError(option, key + " is said twice, expected once");
    return axis;
  };
  for (const std::string& word : over) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw InputError("--over", "found " + in_quotes(word) + ", expected KEY=A,B,...");
    const std::size_t axis = once("--over", word.substr(0, equals));
    space.values[axis] = values_of(search::axes()[axis], word.substr(equals + 1));
  }
  // Sizes go with the clusters that are tried, not with the scenario's alone.
  for (const std::int64_t gpus : space.values[search::axis_named("", "cluster.gpus")]) {
    schedules::Scenario other = space.start;
    other.cluster.gpus = static_cast<std::uint32_t>(gpus);
    const search::Space usual = search::usual_space(std::move(other));
    for (const char* key :
         {"parallelism.tensor", "parallelism.context", "parallelism.pipeline", "parallelism.expert"}) {
      const std::size_t axis = search::axis_named("", key);
      if (!said.contains(axis)) add_values(space.values[axis], usual.values[axis]);
    }
  }
  for (const std::string& key : fix) {
    const std::size_t axis = once("--fix", key);
    space.values[axis] = {search::axes()[axis].of(space.start)};
  }
  return space;
}

SearchReport search_report(search::Space space, search::SearchAnswer answer, search::Objective objective) {
  SearchReport report{std::move(space), std::move(answer), objective, {}};
  const std::vector<calibrate::Residual> measured = measured_residuals();
  for (const search::FoundPlan& plan : report.answer.best)
    report.bands.push_back(
        calibrate::band(calibrate::without(measured, "", ""), calibrate::traits(plan.scenario), plan.forecast.step));
  return report;
}

}  // namespace stepcast::app
