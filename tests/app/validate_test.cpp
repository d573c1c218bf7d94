#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;

const Json& published() {
  static const Json all = [] {
    const Outcome outcome = run_program("validate scenarios/published --format json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Json::parse(outcome.out);
  }();
  return all;
}

/// A change that moves a prediction shows here, as the table of what moved. A row that cannot run yet is "-".
TEST(Validate, PredictionsOfEveryPublishedTableAreGolden) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  std::map<std::string, std::string> tables;
  for (const Json& row : published()["rows"]) {
    std::string& table = tables[row["table"].get<std::string>()];
    if (table.empty()) table = "name,predicted_s,error\n";
    const bool known = row["predicted_s"].is_number(), compared = row["error"].is_number();
    table += fmt::format("{},{},{}\n", row["name"].get<std::string>(),
                         known ? fmt::format("{:.4g}", row["predicted_s"].get<double>()) : "-",
                         compared ? fmt::format("{:+.1f}%", 100 * row["error"].get<double>()) : "-");
  }
  ASSERT_EQ(tables.size(), 8u);
  for (const auto& [name, text] : tables) {
    const std::string golden = "tests/golden/published/" + name + ".csv";
    if (std::getenv("STEPCAST_UPDATE_GOLDEN") == nullptr && text != read_text(STEPCAST_SOURCE_DIR "/" + golden)) {
      ADD_FAILURE() << "STEPCAST_UPDATE_GOLDEN=1 accepts this:\n"
                    << run_program("validate scenarios/published/" + name + ".csv --against " + golden).out;
      continue;
    }
    expect_golden(STEPCAST_SOURCE_DIR "/" + golden, text);
  }
}

/// Bands are made from the errors of the published tables, by this command. What moves a prediction moves the bands of
/// reports too: with STEPCAST_UPDATE_GOLDEN set, run the tests once for this file and once more for those.
TEST(Validate, TheErrorsThatBandsAreMadeFromAreWhatTheCommandWrites) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  const std::string written = testing::TempDir() + "residuals-now.csv";
  const Outcome outcome = run_program("validate scenarios/published --residuals '" + written + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_golden(STEPCAST_SOURCE_DIR "/configs/residuals.csv", read_text(written));
}

/// 80% is what bands promise to rows like those they were made from; rows of a new table are promised nothing, and this
/// says how it went.
TEST(Validate, BandsHoldTheirShareOfMeasuredRows) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  std::size_t banded = 0;
  for (const Json& row : published()["rows"]) {
    if (!row["low_s"].is_number()) continue;
    ++banded;
    EXPECT_LE(row["low_s"].get<double>(), row["predicted_s"].get<double>()) << row["name"];
    EXPECT_GE(row["high_s"].get<double>(), row["predicted_s"].get<double>()) << row["name"];
    EXPECT_EQ(row["in_range"].get<bool>(), row["out_of_range"].empty()) << row["name"];
  }
  EXPECT_GT(banded, 300u);
  EXPECT_NEAR(published()["in_band"].get<double>(), 0.8, 0.05);
  EXPECT_NEAR(published()["in_band_as_new_table"].get<double>(), 0.8, 0.1);
}

/// Mean absolute errors and rank correlations that were reached must not be lost; docs/accuracy.md has the targets.
TEST(Validate, TablesKeepTheirAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  // megatron_sc21: 0.06 until overlapping collectives shared no more than what they reach of a link. The one channel of
  // deepspeed-2021 was inferred before that from two of its rows, which are now too slow.
  const std::map<std::string, double> most{{"korthikanti_2205_05198", 0.03}, {"megatron_sc21", 0.07},
                                           {"vtrain_micro24_multi", 0.08},   {"dlperf_v100_gpt", 0.12},
                                           {"mosaic_llm_foundry", 0.06},     {"simumax_b200_itertime", 0.06},
                                           {"dlperf_v100_resnet_bert", 0.09}};
  // Ten of its rows lie within 10 % of each other: docs/accuracy.md.
  const std::map<std::string, double> least_rank{{"dlperf_v100_resnet_bert", 0.93}};
  std::size_t seen = 0;
  for (const Json& table : published()["tables"]) {
    const auto at = most.find(table["table"].get<std::string>());
    if (at == most.end()) continue;
    ++seen;
    EXPECT_LE(table["mape"].get<double>(), at->second) << at->first;
    const auto rank = least_rank.find(at->first);
    EXPECT_GE(table["rank_correlation"].get<double>(), rank == least_rank.end() ? 0.95 : rank->second) << at->first;
  }
  EXPECT_EQ(seen, most.size());
  EXPECT_EQ(published()["rows"].size(), 329u);
  EXPECT_LE(published()["mape"].get<double>(), 0.07);
  EXPECT_GE(published()["rank_correlation"].get<double>(), 0.95);
}

}  // namespace
}  // namespace stepcast::app
