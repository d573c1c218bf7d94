#include "app/report/search_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "app/report/band.h"
#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/step_text.h"
#include "app/report/text_table.h"
#include "schedules/results/time_parts.h"
#include "search/costs.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using schedules::TimePart;
using search::FoundPlan;
using search::Settings;

constexpr const char* kData = "parallelism.data";
constexpr const char* kLayers = "parallelism.layers_per_stage";

/// A key and its value in a plan.
struct KeyValue {
  std::string key, value;
  bool is_number = false;
};

std::int64_t data_ranks(const Settings& settings) {
  const auto of = [&](const char* key) { return settings[search::axis_named("", key)]; };
  return of("cluster.gpus") / (of("parallelism.tensor") * of("parallelism.context") * of("parallelism.pipeline"));
}

/// All axes, and the data ranks behind the stages.
std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const search::SearchAxis& axis : search::axes()) {
    keys.emplace_back(axis.key);
    if (axis.key == "parallelism.pipeline") keys.emplace_back(kData);
  }
  return keys;
}

/// "[7, 8, 8, 7]"
std::string list_text(const std::vector<std::uint32_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// "[1, 6 x 2, 1]"
std::string short_list_text(const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> words;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const auto next = std::find_if(at, numbers.end(), [&](std::uint32_t number) { return number != *at; });
    constexpr std::ptrdiff_t kFew = 2;
    if (next - at > kFew)
      words.push_back(fmt::format("{} x {}", next - at, *at));
    else
      words.insert(words.end(), static_cast<std::size_t>(next - at), std::to_string(*at));
    at = next;
  }
  return fmt::format("[{}]", fmt::join(words, ", "));
}

/// In the order of all_keys().
std::vector<KeyValue> all_settings(const Settings& settings) {
  std::vector<KeyValue> all;
  for (std::size_t i = 0; i < search::kAxes; ++i) {
    const search::SearchAxis& axis = search::axes()[i];
    all.push_back({std::string(axis.key), text(axis, settings[i]), axis.names == nullptr && axis.unit.empty()});
    if (axis.key == "parallelism.pipeline") all.push_back({kData, std::to_string(data_ranks(settings)), true});
  }
  return all;
}

/// The same with the layers that were found. `text_of`: how a list of them is written.
std::vector<KeyValue> all_settings(const FoundPlan& plan,
                                   std::string (*text_of)(const std::vector<std::uint32_t>&) = list_text) {
  std::vector<KeyValue> all = all_settings(plan.settings);
  if (search::is_balanced(plan.settings))
    std::ranges::find(all, kLayers, &KeyValue::key)->value = text_of(plan.scenario.parallelism.layers_per_stage);
  return all;
}

std::optional<Energy> energy_of(const FoundPlan& plan) {
  return search::step_energy(plan.scenario, plan.forecast.step, search::computing_share(plan.forecast));
}
std::optional<schedules::Money> money_of(const FoundPlan& plan) {
  return search::step_money(plan.scenario, plan.forecast.step, search::computing_share(plan.forecast));
}

/// Of the step, mean over the stages.
double share(const FoundPlan& plan, const TimePart& part) {
  double all = 0;
  for (const schedules::StageReport& stage : plan.forecast.stages) all += to_seconds(stage.time.*part.time);
  return all / to_seconds(plan.forecast.step) / static_cast<double>(plan.forecast.stages.size());
}

/// What tells plans of the space apart: axes with several values, and the data ranks.
bool is_told(const search::Space& space, const std::string& key) {
  if (key == kData) return true;
  return space.values[search::axis_named("", key)].size() > 1;
}

/// A key without its part: "micro_batch".
std::string short_key(const std::string& key) { return key.substr(key.find('.') + 1); }

/// "tensor 8, micro_batch 2": what tells the plan from others of the space.
std::string in_words(const search::Space& space, const Settings& settings) {
  std::string words;
  for (const KeyValue& each : all_settings(settings))
    if (is_told(space, each.key)) words += (words.empty() ? "" : ", ") + short_key(each.key) + " " + each.value;
  return words;
}

std::string gap_text(const search::SearchAnswer& answer) {
  if (!answer.gap) return "nothing is known of how far from the best this is";
  if (*answer.gap == 0)
    return fmt::format("certified gap 0: no plan of the space{} is better than the first",
                       answer.left > 0 ? ", by their bounds also none of those left," : "");
  return fmt::format("certified gap {:.1f}%: no plan of the space is better than the first by more", 100 * *answer.gap);
}

std::string counts_text(const search::SearchAnswer& a) {
  std::string words = fmt::format("{}: {} {} not fit, {} bounded away, {} simulated", how_many(a.screened, "plan"),
                                  a.refused, a.refused == 1 ? "does" : "do", a.bounded, a.simulated);
  if (a.late > 0) words += fmt::format(", {} of these slower than asked", a.late);
  if (a.failed > 0) words += fmt::format(", {} that the cluster cannot carry (the first: {})", a.failed, a.failure);
  if (a.left > 0)
    words += fmt::format(", {} left when {}", a.left, a.stopped ? "the search was stopped" : "the budget was spent");
  if (a.unscreened > 0) words += fmt::format(", {} whose plans nobody looked at", how_many(a.unscreened, "layout"));
  return words + "\n";
}

std::string nearest_text(const SearchReport& report) {
  const search::SearchAnswer& a = report.answer;
  if (!a.nearest) return {};
  return fmt::format("the nearest of those that do not fit misses {}: {}\n", text(a.nearest->missing),
                     in_words(report.space, a.nearest->settings));
}

/// What plans are compared by: so much of something that the objective is, and how it is said.
struct Compared {
  double amount = 0;
  std::string words;
};

Compared compared(const FoundPlan& plan, search::Objective objective) {
  switch (objective) {
    case search::Objective::step_time:
      break;
    case search::Objective::memory:
      return {static_cast<double>(plan.memory.value), "holds " + text(plan.memory)};
    case search::Objective::gpus:
      return {static_cast<double>(plan.scenario.cluster.gpus), "is on " + how_many(plan.scenario.cluster.gpus, "GPU")};
    case search::Objective::money:
      if (const std::optional<schedules::Money> money = money_of(plan))
        return {money->amount, fmt::format("costs {:.4g} {} a step", money->amount, money->currency)};
      break;
    case search::Objective::energy:
      if (const std::optional<Energy> energy = energy_of(plan))
        return {energy->value, "takes " + text(*energy) + " a step"};
      break;
  }
  return {to_seconds(plan.forecast.step), "takes " + step_text(plan.forecast.step)};
}

/// The scenario's own plan beside the first.
std::string own_text(const search::SearchAnswer& a, search::Objective objective) {
  if (a.best.empty()) return {};
  if (a.own_misses) return fmt::format("the scenario's own plan does not fit: it misses {}\n", text(*a.own_misses));
  if (!a.own) return "the scenario's own plan does not run\n";
  const Compared own = compared(*a.own, objective), first = compared(a.best.front(), objective);
  if (own.amount == first.amount) return fmt::format("the scenario's own plan {}, as much as the first\n", own.words);
  const double more = own.amount / first.amount - 1;
  return fmt::format("the scenario's own plan {}, {:.1f}% {} than the first\n", own.words, 100 * std::abs(more),
                     more > 0 ? "more" : "less");
}

/// The first plan beside the others, by their bands.
std::string told_apart_text(const SearchReport& report) {
  const auto& bands = report.bands;
  if (bands.size() < 2 || !bands.front() || report.objective != search::Objective::step_time) return {};
  std::size_t alike = 0;
  for (std::size_t i = 1; i < bands.size(); ++i) alike += bands[i] && bands[i]->low <= bands.front()->high;
  return alike == 0
             ? "no other band reaches that of the first\n"
             : fmt::format("the {} of {} {} that of the first: measure before you choose among them\n",
                           alike == 1 ? "band" : "bands", how_many(alike, "other"), alike == 1 ? "reaches" : "reach");
}

std::string front_text(const SearchReport& report) {
  if (report.answer.front.empty()) return {};
  std::vector<TextTable::Column> columns{{"step time"}, {"peak memory"}};
  for (const KeyValue& each : all_settings(report.answer.front.front().settings))
    if (is_told(report.space, each.key)) columns.push_back({short_key(each.key)});
  TextTable table(columns);
  for (const search::FrontPlan& plan : report.answer.front) {
    std::vector<std::string> cells{step_text(plan.step), text(plan.memory)};
    for (const KeyValue& each : all_settings(plan.settings))
      if (is_told(report.space, each.key)) cells.push_back(each.value);
    table.add(std::move(cells));
  }
  return "\nno plan is better than these in both:\n" + table.text();
}

}  // namespace

std::string search_table(const SearchReport& report) {
  const search::SearchAnswer& answer = report.answer;
  std::string out, said;
  if (!answer.best.empty()) {
    std::vector<TextTable::Column> columns{{"#"}, {"step time"}, {"band"}, {"peak memory"}};
    const std::optional<schedules::Money> money = money_of(answer.best.front());
    const bool energy = energy_of(answer.best.front()).has_value();
    if (money) columns.push_back({money->currency + " a step"});
    if (energy) columns.push_back({"energy"});
    std::vector<const TimePart*> parts;
    for (const TimePart& part : schedules::kTimeParts)
      if (std::ranges::any_of(answer.best, [&](const FoundPlan& plan) { return share(plan, part) >= 0.0005; }))
        parts.push_back(&part);
    for (const KeyValue& each : all_settings(answer.best.front()))
      if (is_told(report.space, each.key)) columns.push_back({short_key(each.key)});
    for (const TimePart* part : parts) columns.push_back({std::string(part->title) + " %"});
    TextTable table(columns);
    std::vector<Bar> bars;
    bool starred = false;
    for (std::size_t i = 0; i < answer.best.size(); ++i) {
      const FoundPlan& plan = answer.best[i];
      starred = starred || (report.bands[i] && !report.bands[i]->in_range);
      std::vector<std::string> cells{std::to_string(i + 1), step_text(plan.forecast.step), band_text(report.bands[i]),
                                     text(plan.memory)};
      if (money) cells.push_back(fmt::format("{:.4g}", money_of(plan)->amount));
      if (energy) cells.push_back(text(*energy_of(plan)));
      for (const KeyValue& each : all_settings(plan, short_list_text))
        if (is_told(report.space, each.key)) cells.push_back(each.value);
      for (const TimePart* part : parts) cells.push_back(fmt::format("{:.1f}", 100 * share(plan, *part)));
      table.add(std::move(cells));
      bars.push_back(step_bar(plan.forecast.stages));
    }
    table.draw_bars(1, std::move(bars));  // the step time's column
    out = table.text();
    if (tables_shown_on()) out += bar_legend(*tables_shown_on()) + "\n";
    if (starred) said += kStarLine;
    said += told_apart_text(report) + own_text(answer, report.objective);
  } else {
    said = answer.all_late() ? "no plan of the space that fits is as fast as asked\n" : "no plan of the space fits\n";
  }
  said += counts_text(answer);
  if (!answer.all_late()) said += nearest_text(report);
  if (!answer.best.empty()) said += gap_text(answer) + "\n";
  return out + shown_lines(said) + front_text(report);
}

std::string search_csv(const SearchReport& report) {
  const search::SearchAnswer& answer = report.answer;
  std::vector<std::string> titles{"rank",    "step_time_s", "low_s",     "high_s", "in_range", "peak_memory_bytes",
                                  "bound_s", "money",       "energy_kwh"};
  for (const std::string& key : all_keys()) titles.push_back(key);
  for (const TimePart& part : schedules::kTimeParts) titles.push_back("share_" + std::string(part.key));
  std::string out = csv_line(titles);
  for (std::size_t i = 0; i < answer.best.size(); ++i) {
    const FoundPlan& plan = answer.best[i];
    std::vector<std::string> cells{std::to_string(i + 1), fmt::format("{}", to_seconds(plan.forecast.step))};
    for (std::string& cell : band_cells(report.bands[i])) cells.push_back(std::move(cell));
    cells.push_back(std::to_string(plan.memory.value));
    cells.push_back(fmt::format("{}", to_seconds(plan.bound)));
    const std::optional<schedules::Money> money = money_of(plan);
    const std::optional<Energy> energy = energy_of(plan);
    cells.push_back(money ? fmt::format("{}", money->amount) : "");
    cells.push_back(energy ? fmt::format("{}", to_kilowatt_hours(*energy)) : "");
    for (const KeyValue& each : all_settings(plan)) cells.push_back(each.value);
    for (const TimePart& part : schedules::kTimeParts) cells.push_back(fmt::format("{}", share(plan, part)));
    out += csv_line(cells);
  }
  return out;
}

namespace {

Json object(const std::vector<KeyValue>& settings) {
  Json all = Json::object();
  for (const KeyValue& each : settings) {
    if (each.is_number || each.value.starts_with("["))
      all[each.key] = Json::parse(each.value);
    else if (each.value == "true" || each.value == "false")
      all[each.key] = each.value == "true";
    else
      all[each.key] = each.value;
  }
  return all;
}

}  // namespace

Json settings_json(const FoundPlan& plan) { return object(all_settings(plan)); }

std::string search_json(const SearchReport& report) {
  const search::SearchAnswer& answer = report.answer;
  Json plans = Json::array(), front = Json::array();
  for (std::size_t i = 0; i < answer.best.size(); ++i) {
    const FoundPlan& plan = answer.best[i];
    const std::optional<calibrate::Band>& band = report.bands[i];
    const std::optional<schedules::Money> money = money_of(plan);
    const std::optional<Energy> energy = energy_of(plan);
    Json shares = Json::object();
    for (const TimePart& part : schedules::kTimeParts) shares[std::string(part.key)] = share(plan, part);
    plans.push_back({{"rank", i + 1},
                     {"step_time_s", to_seconds(plan.forecast.step)},
                     {"low_s", band ? Json(to_seconds(band->low)) : Json()},
                     {"high_s", band ? Json(to_seconds(band->high)) : Json()},
                     {"in_range", band ? Json(band->in_range) : Json()},
                     {"peak_memory_bytes", plan.memory.value},
                     {"bound_s", to_seconds(plan.bound)},
                     {"money", money ? Json(money->amount) : Json()},
                     {"currency", money ? Json(money->currency) : Json()},
                     {"energy_kwh", energy ? Json(to_kilowatt_hours(*energy)) : Json()},
                     {"shares", shares},
                     {"settings", settings_json(plan)}});
  }
  for (const search::FrontPlan& plan : answer.front)
    front.push_back({{"step_time_s", to_seconds(plan.step)},
                     {"peak_memory_bytes", plan.memory.value},
                     {"settings", object(all_settings(plan.settings))}});
  Json nearest;
  if (answer.nearest)
    nearest = {{"missing_bytes", answer.nearest->missing.value},
               {"settings", object(all_settings(answer.nearest->settings))}};
  return json_text({{"plans", plans},
                    {"front", front},
                    {"own_step_time_s", answer.own ? Json(to_seconds(answer.own->forecast.step)) : Json()},
                    {"own_misses_bytes", answer.own_misses ? Json(answer.own_misses->value) : Json()},
                    {"screened", answer.screened},
                    {"refused", answer.refused},
                    {"nearest_refused", nearest},
                    {"bounded", answer.bounded},
                    {"simulated", answer.simulated},
                    {"late", answer.late},
                    {"failed", answer.failed},
                    {"left", answer.left},
                    {"unscreened", answer.unscreened},
                    {"stopped", answer.stopped},
                    {"gap", answer.gap ? Json(*answer.gap) : Json()},
                    {"seconds", answer.screening_seconds + answer.simulating_seconds},
                    {"screening_seconds", answer.screening_seconds}});
}

std::vector<std::string> settings_of(const search::Space& space, const FoundPlan& plan) {
  const Settings& settings = plan.settings;
  std::vector<std::string> all;
  std::set<std::string_view> taken_away;
  for (std::size_t i = 0; i < search::kAxes; ++i) {
    const search::SearchAxis& axis = search::axes()[i];
    if (settings[i] == axis.of(space.start) || axis.key == kLayers) continue;
    all.push_back(std::string(axis.key) + "=" + written(axis, settings[i]));
    taken_away.insert(axis.details.begin(), axis.details.end());
  }
  if (search::is_balanced(settings)) {
    const auto& details = search::axes()[search::axis_named("", kLayers)].details;
    taken_away.insert(details.begin(), details.end());
    taken_away.erase(kLayers);
    all.push_back(fmt::format("{}=[{}]", kLayers, fmt::join(plan.scenario.parallelism.layers_per_stage, ",")));
  }
  for (const std::string_view key : taken_away) all.push_back(std::string(key) + "=");
  all.push_back(std::string(kData) + "=" + std::to_string(data_ranks(settings)));
  return all;
}

}  // namespace stepcast::app
