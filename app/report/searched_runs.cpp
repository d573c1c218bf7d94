#include "app/report/searched_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Time> found_step(const SearchedRun& run) {
  return run.answer.best.empty() ? std::nullopt : std::optional(run.answer.best.front().forecast.step);
}

std::optional<Time> own_step(const SearchedRun& run) {
  return run.answer.own ? std::optional(run.answer.own->forecast.step) : std::nullopt;
}

/// What the best plan's step takes over that of the run's own plan, minus 1.
std::optional<double> gain(const SearchedRun& run) {
  const std::optional<Time> found = found_step(run), own = own_step(run);
  return found && own ? std::optional(to_seconds(*found) / to_seconds(*own) - 1) : std::nullopt;
}

/// Those that change something to see: not what goes with an old value ("parallelism.tensor_grid=").
std::string changes(const SearchedRun& run) {
  std::string words;
  for (const std::string& setting : run.settings)
    if (!setting.ends_with('=')) words += (words.empty() ? "" : " ") + setting;
  return words;
}

/// Its step, or by how much it does not fit.
std::string own_words(const SearchedRun& run) {
  if (run.answer.own_misses) return "misses " + text(*run.answer.own_misses);
  const std::optional<Time> own = own_step(run);
  return own ? text(*own) : "-";
}

double seconds_taken(const SearchedRun& run) { return run.answer.screening_seconds + run.answer.simulating_seconds; }

}  // namespace

std::string searched_runs_table(std::span<const SearchedRun> runs) {
  TextTable table({{"name", TextTable::Align::left},
                   {"own plan"},
                   {"best plan"},
                   {"gain"},
                   {"plans"},
                   {"gap"},
                   {"", TextTable::Align::left}});
  double longest = 0;
  std::size_t better = 0, slower = 0, refused = 0;
  for (const SearchedRun& run : runs) {
    longest = std::max(longest, seconds_taken(run));
    const std::optional<Time> found = found_step(run);
    const std::optional<double> gained = gain(run);
    better += gained && *gained < 0;
    slower += gained && *gained > 0;
    const std::optional<double>& gap = run.answer.gap;
    refused += run.answer.own_misses.has_value();
    table.add({run.name, own_words(run), found ? text(*found) : "-", gained ? signed_percent(*gained) : "-",
               std::to_string(run.answer.screened), gap ? fmt::format("{:.1f}%", 100 * *gap) : "-",
               run.error.empty() ? changes(run) : run.error});
  }
  return table.text() +
         fmt::format("{}: a faster plan was found for {}, a slower one for {}{}; at most {:.2g} s for a run\n",
                     how_many(runs.size(), "run"), better, slower,
                     refused > 0 ? fmt::format(", {} plans of their own do not fit", refused) : "", longest);
}

std::string searched_runs_csv(std::span<const SearchedRun> runs) {
  std::string out = csv_line({"name", "own_step_time_s", "own_misses_bytes", "step_time_s", "gain", "screened",
                              "refused", "bounded", "simulated", "gap", "settings", "why"});
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : ""; };
  const auto seconds = [&](const std::optional<Time>& time) {
    return number(time ? std::optional(to_seconds(*time)) : std::nullopt);
  };
  for (const SearchedRun& run : runs) {
    const search::SearchAnswer& answer = run.answer;
    const std::optional<Time> found = found_step(run);
    out +=
        csv_line({run.name, seconds(own_step(run)), answer.own_misses ? std::to_string(answer.own_misses->value) : "",
                  seconds(found), number(gain(run)), std::to_string(answer.screened), std::to_string(answer.refused),
                  std::to_string(answer.bounded), std::to_string(answer.simulated), number(answer.gap),
                  fmt::format("{}", fmt::join(run.settings, " ")), run.error});
  }
  return out;
}

std::string searched_runs_json(std::span<const SearchedRun> runs) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  const auto seconds = [](const std::optional<Time>& time) { return time ? Json(to_seconds(*time)) : Json(); };
  Json rows = Json::array();
  for (const SearchedRun& run : runs) {
    const search::SearchAnswer& answer = run.answer;
    rows.push_back({{"name", run.name},
                    {"error", run.error.empty() ? Json() : Json(run.error)},
                    {"own_step_time_s", seconds(own_step(run))},
                    {"own_misses_bytes", answer.own_misses ? Json(answer.own_misses->value) : Json()},
                    {"step_time_s", seconds(found_step(run))},
                    {"gain", or_null(gain(run))},
                    {"screened", answer.screened},
                    {"refused", answer.refused},
                    {"bounded", answer.bounded},
                    {"simulated", answer.simulated},
                    {"gap", or_null(answer.gap)},
                    {"settings", run.settings},
                    {"seconds", seconds_taken(run)}});
  }
  return json_text({{"runs", std::move(rows)}});
}

}  // namespace stepcast::app
