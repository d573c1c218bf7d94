// Running out of memory is an outcome that is told, wherever it happens; allocations are made to fail by
// tests/failing_new. (Sanitizers bring their own allocations: not with them.)

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (stepcast::test::kSanitized) GTEST_SKIP() << "sanitizers bring their own allocations";
  }

  static Outcome run_failing(const std::string& how, const std::string& words,
                             const std::string& cwd = STEPCAST_SOURCE_DIR) {
    return run_script("STEPCAST_FAIL_" + how + " '" STEPCAST_FAILING_PROGRAM "' " + words, cwd);
  }
};

TEST_F(OutOfMemory, IsToldByEveryCommand) {
  for (const std::string words :
       {"run scenarios/quickstart.yaml --schedule-diagram", "validate scenarios/published/mtnlg_530b.csv",
        "topology dgx-a100-80gb --matrix", "collective --node dgx-a100-80gb --gpus 8 --sizes 1MiB --algorithm all",
        "keys", "fit calibrate/data/nccl/curves.csv --check"}) {
    for (std::size_t at = 1000; at < 100'000; at *= 9) {  // below are those before main
      const Outcome outcome = run_failing("AT=" + std::to_string(at), words);
      if (outcome.status == 0 && at > 1000) break;  // it has fewer
      EXPECT_EQ(outcome.status, 1) << words << ", allocation " << at << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "") << words << at;
      EXPECT_TRUE(outcome.err == "stepcast: this computer has too little memory for what was asked\n" ||
                  outcome.err == "stepcast: a library gave up, as they do where memory runs out\n")
          << words << at << outcome.err;
    }
  }
}

/// The second row alone makes a large graph: no two of its passes take as long, so all are simulated. Where that fails
/// once, the row is tried again when the others are done.
TEST_F(OutOfMemory, OfOneRowLeavesTheOthersAndForAMomentChangesNothing) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("stepcast-memory-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string base = STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml";
  std::ofstream(folder / "t.csv") << "base,training.global_batch,imperfections.jitter\n"
                                  << base << ",64,\n"
                                  << base << ",1024,0.01\n"
                                  << base << ",64,\n";
  const std::string words = "run t.csv --format csv --threads 2";
  const Outcome failing = run_failing("ABOVE=1000000", words, folder.string());
  const std::string why = "t.csv:3:1: this computer has too little memory for it";
  EXPECT_EQ(failing.status, 1);
  EXPECT_EQ(failing.err, "1 of 3 rows could not be run; the first: " + why + "\n");
  const std::string alone = run_program("run '" + base + "' --format csv").out;
  const std::string row = alone.substr(alone.find('\n') + 1), name = row.substr(0, row.find(','));
  EXPECT_EQ(failing.out, alone + name + ",,,,,,,,,,,," + why + ",,,\n" + row);

  const Outcome whole = run_program(words, folder.string());
  const Outcome once = run_failing("COUNT=1 STEPCAST_FAIL_ABOVE=1000000", words, folder.string());
  EXPECT_EQ(whole.status, 0);
  EXPECT_EQ(once.status, 0) << once.err;
  EXPECT_EQ(once.out, whole.out);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepcast::app
