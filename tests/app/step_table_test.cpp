#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "calibrate/measure/host/runs_table_file.h"
#include "calibrate/measure/host/step_case.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// A runs table as stepcast_measure writes its own training steps: a sample of the form. Its times are no measurements,
/// one second each.
fs::path sample_of(const std::string& name, const std::vector<measure::StepCase>& steps) {
  const fs::path file = fs::path(testing::TempDir()) / ("form_of_steps_" + name + ".csv");
  fs::remove(file);
  measure::RunsTableFile table(file, measure::step_table_columns());
  measure::StepResult result;
  result.step.median = result.step.p10 = result.step.p90 = 1;
  result.peak_bytes = 1 << 30;
  result.phases.layers_forward = result.phases.layers_backward = result.phases.data = 0.25;
  for (const measure::StepCase& step : steps) table.add(measure::step_table_cells(step, result, "dgx-h200", "form"));
  return file;
}

/// Every case of the default plans can be put beside a prediction.
TEST(StepTable, ValidatePredictsEveryRowOfWhatStepcastMeasureWrites) {
  LEFT_TO_RELEASE();
  for (const int gpus : {1, 8}) {
    constexpr std::int64_t kMemory = std::int64_t{140} << 30;
    const fs::path file = sample_of(std::to_string(gpus), measure::step_plan(gpus, kMemory, false));
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

/// What the step does (calibrate/measure/step/layer.cpp): an attention forward more in each layer's backward pass, and
/// of the only micro-batch in flight no float of each row and head.
TEST(StepTable, SelectiveRecomputationIsPredictedAsTheStepDoesIt) {
  measure::StepCase step{24, 2048, 16, 50304, 2048, 4, 2};
  std::vector<measure::StepCase> steps{step, step};
  steps[1].recompute = measure::StepRecompute::selective;
  const Outcome outcome = run_program("validate " + sample_of("selective", steps).string() + " --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), 2u);
  const std::int64_t tokens = std::int64_t{step.micro_batch} * step.sequence;
  EXPECT_EQ(rows[0]["predicted_bytes"].get<std::int64_t>() - rows[1]["predicted_bytes"].get<std::int64_t>(),
            4 * step.layers * step.heads * tokens);
  const auto more = [&](const char* phase) {
    const auto predicted = [&](std::size_t row) { return rows[row]["phases"][phase]["predicted_s"].get<double>(); };
    return predicted(1) - predicted(0);
  };
  EXPECT_EQ(more("layer_forward"), 0);
  EXPECT_GT(more("layer_backward"), 0);
  EXPECT_NEAR(rows[1]["predicted_s"].get<double>() - rows[0]["predicted_s"].get<double>(),
              step.layers * step.micro_batches * more("layer_backward"), 1e-9);
}

}  // namespace
}  // namespace stepcast::app
