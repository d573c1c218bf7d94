#include "app/status_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

const std::string kEach[] = {
    "run scenarios/quickstart.yaml",
    "run scenarios/quickstart.yaml scenarios/mlp.yaml",
    "sweep scenarios/quickstart.yaml --axis training.micro_batch=1,2",
    "search scenarios/quickstart.yaml --over training.micro_batch=1,2 --over parallelism.tensor=8 --budget 2",
    "search scenarios/quickstart.yaml scenarios/quickstart.yaml --over training.micro_batch=1 --over "
    "parallelism.tensor=8 "
    "--over parallelism.pipeline=8 --budget 1",
    "validate scenarios/quickstart.yaml",
    "sensitivity scenarios/mlp.yaml",
    "plan scenarios/gpt3-175b-1024-a100.yaml",
    "collective --node dgx-h100 --sizes 1MiB --algorithm all",
    "flows --node dgx-h100 --nodes 2 --pattern incast --sizes 1MiB",
    "fit calibrate/data/gemm_a100_pcie.csv --gpu a100-pcie-40gb",
    "diff scenarios/mlp.yaml scenarios/quickstart.yaml",
    "topology dgx-h100",
    "import slurm scenarios/slurm/topology.conf --node dgx-h100",
};

TEST(StatusLine, IsOfEveryCommandThatMayTakeLong) {
  LEFT_TO_RELEASE();
  for (const std::string& command : kEach) {
    const Outcome told = run_program(command + " --output /dev/null", STEPCAST_SOURCE_DIR, "STEPCAST_PROGRESS=0");
    EXPECT_EQ(told.status, 0) << command << told.err;
    EXPECT_THAT(told.err, HasSubstr("\n")) << command;
    const Outcome silent = run_program(command + " --output /dev/null", STEPCAST_SOURCE_DIR, "STEPCAST_PROGRESS=none");
    EXPECT_EQ(silent.err, "") << command;
  }
}

TEST(StatusLine, OfALogIsALine) {
  const Outcome outcome = run_program("run scenarios/quickstart.yaml scenarios/mlp.yaml --output /dev/null",
                                      STEPCAST_SOURCE_DIR, "STEPCAST_PROGRESS=0");
  EXPECT_THAT(outcome.err, ContainsRegex("(^|\n)2 of 2, [0-9.e+]+ a second, 0 s left\n$"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("\r")));
}

TEST(StatusLine, OfATerminalIsGoneAtTheEnd) {
  const std::string shown =
      run_script(
          "STEPCAST_PROGRESS=0 script -qec '\"$stepcast\" run scenarios/quickstart.yaml --output /dev/null' "
          "/dev/null </dev/null")
          .out;
  EXPECT_THAT(shown, HasSubstr("forecasting, 0 s"));
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
}

TEST(StatusLine, SaysNothingOfWhatIsDoneAtOnce) {
  EXPECT_EQ(run_program("run scenarios/mlp.yaml --output /dev/null", STEPCAST_SOURCE_DIR, "STEPCAST_PROGRESS=").err,
            "");
}

}  // namespace
}  // namespace stepcast::app
