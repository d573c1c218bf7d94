// Measured runs of one plan on more and more GPUs, each with as much work: what they lose is in docs/accuracy.md.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "language/tables/csv.h"
#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;
using RowCells = std::map<std::string, std::string>;

/// The rows of a table as cells by column.
std::vector<RowCells> rows_of(const std::filesystem::path& table) {
  const std::vector<language::Record> records = language::parse_csv(read_text(table.string()), table.string());
  std::vector<RowCells> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    RowCells& row = rows.emplace_back();
    for (std::size_t column = 0; column < records[i].size(); ++column)
      row[records[0][column].text] = records[i][column].text;
  }
  return rows;
}

/// What rows of one plan have in common that differ in GPUs, and in data ranks and batch with them.
std::string plan_of(const std::string& table, RowCells row) {
  const double each = std::stod(row.at("training.global_batch")) / std::stod(row.at("cluster.gpus"));
  std::string plan = fmt::format("{} {:.6f}", table, each);
  for (const char* const grows : {"name", "source", "confidence", "note", "cluster.gpus", "parallelism.data",
                                  "training.global_batch", "measured.step_time", "measured.peak_memory"})
    row.erase(grows);
  for (const auto& [column, cell] : row)
    if (!cell.empty()) plan += fmt::format(" {}={}", column, cell);
  return plan;
}

/// Rows of tables by name.
std::map<std::string, Json> validated(const std::set<std::string>& tables, const std::string& settings) {
  const Outcome outcome = run_program(fmt::format("validate {} --format json {}", fmt::join(tables, " "), settings));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  std::map<std::string, Json> rows;
  for (const Json& row : told["rows"])
    if (row["error"].is_number()) rows[row["name"].get<std::string>()] = row;
  return rows;
}

/// A plan's rows by GPUs, of several on as many the first, and its table.
struct Sizes {
  std::map<int, std::string> rows;
  std::string table;
};

std::map<std::string, Sizes> plans_that_grow() {
  std::map<std::string, Sizes> plans;
  for (const char* const folder : {"published", "assumed"})
    for (const auto& file :
         std::filesystem::directory_iterator(STEPCAST_SOURCE_DIR "/scenarios/" + std::string(folder)))
      for (const RowCells& row : rows_of(file.path()))
        if (row.contains("cluster.gpus") && !row.at("cluster.gpus").empty()) {
          Sizes& sizes = plans[plan_of(file.path().stem(), row)];
          sizes.rows.emplace(std::stoi(row.at("cluster.gpus")), row.at("name"));
          sizes.table = file.path();
        }
  std::erase_if(plans, [](const auto& plan) { return plan.second.rows.size() < 3; });
  return plans;
}

TEST(WeakScaling, IsOnThePageOfAccuracyAsMeasuredAndAsForecast) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every table with sanitizers";
  const std::map<std::string, Sizes> plans = plans_that_grow();
  std::set<std::string> tables;
  for (const auto& [plan, sizes] : plans) tables.insert(sizes.table);
  const std::map<std::string, Json> own = validated(tables, ""),
                                    alike = validated(tables, "--set cluster.node.gpu.spread=0");
  std::set<std::string> lines;
  double measured = 0, predicted = 0, without = 0;
  for (const auto& [plan, sizes] : plans) {
    const std::string &least = sizes.rows.begin()->second, &most = sizes.rows.rbegin()->second;
    if (!own.contains(least) || !own.contains(most)) continue;
    const auto grown = [&](const std::map<std::string, Json>& of, const char* figure) {
      return of.at(most)[figure].get<double>() / of.at(least)[figure].get<double>() - 1;
    };
    measured += grown(own, "measured_s");
    predicted += grown(own, "predicted_s");
    without += grown(alike, "predicted_s");
    lines.insert(fmt::format("| {} to {} | {} to {} | {:+.1f}% | {:+.1f}% | {:+.1f}% |\n", least, most,
                             sizes.rows.begin()->first, sizes.rows.rbegin()->first, 100 * grown(own, "measured_s"),
                             100 * grown(own, "predicted_s"), 100 * grown(alike, "predicted_s")));
  }
  ASSERT_GE(lines.size(), 10u);
  std::string table = "| rows | GPUs | measured | predicted | GPUs all alike |\n|---|--:|--:|--:|--:|\n";
  for (const std::string& line : lines) table += line;
  const auto count = static_cast<double>(lines.size());
  table += fmt::format("| mean of {:.0f} | | {:+.1f}% | {:+.1f}% | {:+.1f}% |\n", count, 100 * measured / count,
                       100 * predicted / count, 100 * without / count);
  EXPECT_GT(predicted, without);
  EXPECT_LT(predicted, measured);
  expect_block("docs/accuracy.md", "weak scaling", table);
}

}  // namespace
}  // namespace stepcast::app
