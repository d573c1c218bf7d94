#include "app/report/edge_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/search_report.h"
#include "app/report/text_table.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using search::EdgePoint;

std::string plan_text(const search::Space& space, const search::Settings& settings) {
  std::string words;
  for (std::size_t i = 0; i < search::kAxes; ++i) {
    const search::SearchAxis& axis = search::axes()[i];
    if (space.values[i].size() < 2 || axis.key == "cluster.gpus") continue;
    const std::string_view key = axis.key.substr(axis.key.find('.') + 1);
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key, text(axis, settings[i]));
  }
  return words;
}

const EdgeValue& value_of(const EdgeReport& report, const EdgePoint& point) { return report.values[point.place]; }

/// What was tried where nothing meets the target.
std::string nothing_meets(const EdgeReport& report) {
  const std::vector<EdgePoint>& tried = report.edge.points;
  std::string out = fmt::format("no {} that was tried meets {}", report.least, report.until);
  if (tried.size() == report.values.size()) return out + "\n";
  return out +
         fmt::format(": neither the most, {}, nor the least, {}; where the most does not, none between is tried\n",
                     value_of(report, tried.back()).text, value_of(report, tried.front()).text);
}

/// What is found, and why it is the edge.
std::string edge_text(const EdgeReport& report) {
  const search::TargetEdge& edge = report.edge;
  if (!edge.least) return nothing_meets(report);
  std::string out = fmt::format("least {} with which the fastest plan meets {}: {}", report.least, report.until,
                                value_of(report, edge.points[*edge.least]).text);
  if (*edge.least == 0) {
    out += "; no lesser value is tried\n";
  } else {
    const EdgePoint& next = edge.points[*edge.least - 1];
    out += fmt::format("; with {}, the next lesser value that was tried, {}\n", value_of(report, next).text,
                       next.best ? "it does not" : "no plan fits");
  }
  const auto is_lost = std::find_if(edge.points.begin() + static_cast<std::ptrdiff_t>(*edge.least), edge.points.end(),
                                    [](const EdgePoint& point) { return !point.met; });
  if (is_lost != edge.points.end())
    out += fmt::format("with more, {}, it does not: other values that were not tried may lie at an edge too\n",
                       value_of(report, *is_lost).text);
  else if (!edge.monotone)
    out += "more of it is not always faster: a lesser value that was not tried may meet it too\n";
  return out;
}

}  // namespace

std::string edge_table(const EdgeReport& report) {
  TextTable table({{report.least}, {"met"}, {"step time"}, {"peak memory"}, {"fastest plan", TextTable::Align::left}});
  for (const EdgePoint& point : report.edge.points) {
    const auto& best = point.best;
    // Five digits: values at an edge lie close to the target.
    table.add({value_of(report, point).text, point.met ? "yes" : "no",
               best ? fmt::format("{:.5g} s", to_seconds(best->forecast.step)) : "-", best ? text(best->memory) : "-",
               best ? plan_text(report.space, best->settings) : "no plan fits"});
  }
  return table.text() + edge_text(report) + shown_line("values: ", report.which, 2);
}

std::string edge_csv(const EdgeReport& report) {
  std::vector<std::string> titles{"value", "counted_in", "met", "step_time_s", "peak_memory_bytes"};
  for (const search::SearchAxis& axis : search::axes()) titles.emplace_back(axis.key);
  std::string out = csv_line(titles);
  for (const EdgePoint& point : report.edge.points) {
    const auto& best = point.best;
    std::vector<std::string> cells{
        fmt::format("{}", value_of(report, point).number), std::string(report.counted_in), point.met ? "true" : "false",
        best ? fmt::format("{}", to_seconds(best->forecast.step)) : "", best ? std::to_string(best->memory.value) : ""};
    for (std::size_t i = 0; i < search::kAxes; ++i)
      cells.push_back(best ? text(search::axes()[i], best->settings[i]) : "");
    out += csv_line(cells);
  }
  return out;
}

std::string edge_json(const EdgeReport& report) {
  Json points = Json::array();
  for (const EdgePoint& point : report.edge.points) {
    const auto& best = point.best;
    points.push_back({{"value", value_of(report, point).number},
                      {"met", point.met},
                      {"step_time_s", best ? Json(to_seconds(best->forecast.step)) : Json()},
                      {"peak_memory_bytes", best ? Json(best->memory.value) : Json()},
                      {"settings", best ? settings_json(*best) : Json()}});
  }
  const auto& least = report.edge.least;
  return json_text({{"until", report.until},
                    {"least", report.least},
                    {"counted_in", report.counted_in},
                    {"value", least ? Json(value_of(report, report.edge.points[*least]).number) : Json()},
                    {"monotone", report.edge.monotone},
                    {"points", points}});
}

}  // namespace stepcast::app
