#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "calibrate/measure/host/runs_table.h"
#include "calibrate/measure/host/step_case.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// A runs table as stepcast_measure writes its own training steps: a sample of the form. Its times are no measurements,
/// one second each.
fs::path sample_of(int gpus) {
  const fs::path file = fs::path(testing::TempDir()) / ("form_of_steps_" + std::to_string(gpus) + ".csv");
  fs::remove(file);
  measure::RunsTable table(file, measure::step_table_columns());
  measure::StepResult result;
  result.step.median = result.step.p10 = result.step.p90 = 1;
  result.peak_bytes = 1 << 30;
  result.phases.layers_forward = result.phases.layers_backward = result.phases.data = 0.25;
  constexpr std::int64_t kMemory = std::int64_t{140} << 30;
  for (const measure::StepCase& step : measure::step_plan(gpus, kMemory, false))
    table.add(measure::step_table_cells(step, result, "dgx-h200", "form"));
  return file;
}

/// Every case of the default plans can be put beside a prediction.
TEST(StepTable, ValidatePredictsEveryRowOfWhatStepcastMeasureWrites) {
  for (const int gpus : {1, 8}) {
    const fs::path file = sample_of(gpus);
    const Outcome outcome = run_program("validate " + file.string() + " --format json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json rows = Json::parse(outcome.out)["rows"];
    EXPECT_GE(rows.size(), 24u);
    for (const Json& row : rows) {
      EXPECT_TRUE(row["predicted_s"].is_number()) << row.dump(1);
      EXPECT_TRUE(row["predicted_bytes"].is_number()) << row.dump(1);
      EXPECT_TRUE(row["phases"].contains("layer_forward")) << row.dump(1);
    }
  }
}

}  // namespace
}  // namespace stepcast::app
