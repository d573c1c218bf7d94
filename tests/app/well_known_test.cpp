// scenarios/well-known: runs with public figures that are in no table and that nothing was fitted to. docs/accuracy.md
// lists each with its error.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;

TEST(WellKnownRuns, AreEachListedWithTheirErrorOnThePageOfAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "16,384 GPUs take long with sanitizers";
  const Outcome outcome = run_program("validate scenarios/well-known --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json all = Json::parse(outcome.out);
  std::string table = "| run | measured | predicted | error | predicted memory |\n|---|--:|--:|--:|--:|\n";
  for (const Json& row : all["rows"]) {
    ASSERT_TRUE(row["error"].is_number()) << row["name"];
    table += fmt::format("| {} | {:.4g} s | {:.4g} s | {:+.1f}% | {:.0f} GiB |\n", row["name"].get<std::string>(),
                         row["measured_s"].get<double>(), row["predicted_s"].get<double>(),
                         100 * row["error"].get<double>(), row["predicted_bytes"].get<double>() / (1 << 30));
  }
  const Json& summary = all["tables"].at(0);
  table += fmt::format("| mean absolute error of {} | | | {:.1f}% | |\n", summary["rows"].get<int>(),
                       100 * summary["mape"].get<double>());
  expect_block("docs/accuracy.md", "well-known runs", table);
}

TEST(WellKnownRuns, SayWhereTheirFigureIsFromAndWhatIsAssumed) {
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STEPCAST_SOURCE_DIR "/scenarios/well-known")) {
    const std::string text = read_text(entry.path().string());
    for (const char* key : {"\nsource: ", "\nconfidence: assumed\n", "\nnote: ", "\nmeasured: {step_time: "})
      EXPECT_NE(text.find(key), std::string::npos) << entry.path() << " has no " << key;
    ++runs;
  }
  EXPECT_GE(runs, 10u);
}

}  // namespace
}  // namespace stepcast::app
