#include "app/report/flow_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

std::string micros(double seconds) { return fmt::format("{:.1f}", seconds * 1e6); }

/// What a row says in seconds: the median over the hashings, the least and the most.
std::vector<std::pair<std::string, double>> figures(const FlowRow& row) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& [name, over] : {std::pair{"median", row.median}, {"last", row.last}}) {
    const std::string key = std::string(name) + "_flow";
    all.emplace_back(key + "_s", over.median);
    all.emplace_back(key + "_least_s", over.least);
    all.emplace_back(key + "_most_s", over.most);
  }
  return all;
}

}  // namespace

std::string flow_table(const FlowReport& report) {
  const std::string tried =
      report.hashings == 0 ? ""
                           : fmt::format(", {} hashings: the median of them, the least and the most", report.hashings);
  std::string text = fmt::format("{} over {}, {}, stack {}{}\ntimes in us\n", language::visible(report.pattern),
                                 how_many(report.ranks, "GPU"), how_many(report.flows, "flow"),
                                 language::visible(report.software), tried);
  std::vector<TextTable::Column> head{{"size (B)"}, {"median flow"}, {"last flow"}};
  if (report.hashings != 0)
    head = {{"size (B)"}, {"median flow"}, {"least"}, {"most"}, {"last flow"}, {"least"}, {"most"}};
  TextTable table(head);
  for (const FlowRow& row : report.rows) {
    std::vector<std::string> cells{std::to_string(row.size.value)};
    for (const HashingSpread& over : {row.median, row.last}) {
      cells.push_back(micros(over.median));
      if (report.hashings == 0) continue;
      cells.push_back(micros(over.least));
      cells.push_back(micros(over.most));
    }
    table.add(std::move(cells));
  }
  return text + table.text();
}

std::string flow_json(const FlowReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FlowRow& row : report.rows) {
    nlohmann::ordered_json out{{"pattern", report.pattern},
                               {"ranks", report.ranks},
                               {"flows", report.flows},
                               {"hashings", std::max(report.hashings, 1u)},
                               {"size_bytes", row.size.value}};
    for (const auto& [key, seconds] : figures(row)) out[key] = seconds;
    rows.push_back(std::move(out));
  }
  return json_text({{"rows", std::move(rows)}});
}

std::string flow_csv(const FlowReport& report) {
  std::vector<std::string> head{"pattern", "ranks", "flows", "hashings", "size_bytes"};
  for (const auto& [key, seconds] : figures({})) head.push_back(key);
  std::string text = csv_line(head);
  for (const FlowRow& row : report.rows) {
    std::vector<std::string> cells{report.pattern, std::to_string(report.ranks), std::to_string(report.flows),
                                   std::to_string(std::max(report.hashings, 1u)), std::to_string(row.size.value)};
    for (const auto& [key, seconds] : figures(row)) cells.push_back(fmt::format("{}", seconds));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace stepcast::app
