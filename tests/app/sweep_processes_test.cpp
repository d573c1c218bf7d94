// `stepcast sweep` started by mpirun: the same bytes for any number of processes, and nothing lost when they are
// killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// 16 plans: some fit, some do not, and some do not multiply to 64 GPUs.
const std::string kSixteen = "sweep " STEPCAST_SOURCE_DIR
                             "/scenarios/quickstart.yaml --axis parallelism.tensor=4,8 --axis "
                             "parallelism.pipeline=4:32:x2 --axis recompute=none,full --set parallelism.data=";
/// So many more that they take seconds: processes whose launcher was killed go on for one (PMIx of Open MPI 4.1).
const std::string kMany = kSixteen +
                          " --axis training.global_batch=64:6144:64 --axis training.sequence=1024,2048 --simulate all "
                          "--threads 1";
/// As root too, and more processes than there are cores.
const std::string kMpirun =
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
    "mpirun() { command mpirun --oversubscribe \"$@\"; }\n";

class SweepOfProcesses : public testing::Test {
 protected:
  SweepOfProcesses() : folder_(fs::temp_directory_path() / ("stepcast-processes-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~SweepOfProcesses() override { fs::remove_all(folder_); }

  void SetUp() override {
    if (stepcast::test::kSanitized) GTEST_SKIP() << "MPI's own libraries have leaks and races";
    if (run_script("command -v mpirun").status != 0) GTEST_SKIP() << "no mpirun found (Debian: openmpi-bin)";
    if (!fs::exists(fs::path(STEPCAST_PROGRAM).parent_path() / "lib/stepcast/stepcast-mpi.so"))
      GTEST_SKIP() << "built without MPI (Debian: libopenmpi-dev)";
  }

  std::string text_of(const std::string& name) const { return read_text((folder_ / name).string()); }
  Outcome run(const std::string& script) const { return run_script(kMpirun + script, folder_.string()); }

 private:
  fs::path folder_;
};

TEST_F(SweepOfProcesses, OneTwoAndThreeWriteTheSameBytesAsFourShards) {
  for (const std::string filter : {"", " --where fits", " --where 'mfu>2'"})
    for (const std::string ending : {"csv", "jsonl"}) {
      if (filter.empty() && ending == "jsonl") continue;  // as with the rows that fit
      SCOPED_TRACE(filter + " " + ending);
      std::string script = "rm -f *\n$stepcast " + kSixteen + filter + " --output whole." + ending + "\n", shards;
      for (const char* const shard : {"1", "2", "3", "4"}) {
        const std::string name = "shard-" + std::string(shard) + "." + ending;
        script += "$stepcast " + kSixteen + filter + " --shard " + shard + "/4 --output " + name + "\n";
        shards += " " + name;
      }
      script += "$stepcast merge" + shards + " --output merged." + ending + "\n";
      for (const char* const processes : {"1", "2", "3"})
        script += "mpirun -n " + std::string(processes) + " $stepcast " + kSixteen + filter + " --output " + processes +
                  "." + ending + "\n";
      const Outcome outcome = run(script);
      const std::string whole = text_of("whole." + ending);
      for (const char* const name : {"merged.", "1.", "2.", "3."}) EXPECT_EQ(text_of(name + ending), whole) << name;
      EXPECT_EQ(whole.empty(), ending == "jsonl" && filter == " --where 'mfu>2'");
      EXPECT_EQ(outcome.out, "");
    }
}

TEST_F(SweepOfProcesses, ATableIsPrintedOnceAndAShardIsSharedOut) {
  const Outcome outcome = run("$stepcast " + kSixteen + " > alone.txt\nmpirun -n 3 $stepcast " + kSixteen +
                              " > together.txt\n$stepcast " + kSixteen + " --shard 2/3 --output alone.csv\n" +
                              "mpirun -n 2 $stepcast " + kSixteen + " --shard 2/3 --output together.csv");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(text_of("alone.txt"), HasSubstr("16 points"));
  EXPECT_EQ(text_of("together.txt"), text_of("alone.txt"));
  EXPECT_EQ(text_of("together.csv"), text_of("alone.csv"));
}

TEST_F(SweepOfProcesses, KilledHalfWayTheyLoseNothingAndAnyNumberGoesOn) {
  const Outcome alone = run("$stepcast " + kMany + " --output whole.csv");
  EXPECT_EQ(alone.status, 0) << alone.err;
  for (const std::string whom :
       {"$launcher",
        "$(cat /proc/$launcher/task/*/children | grep -oE '[0-9]+' | tail -n 1)"}) {  // all, and one of them
    SCOPED_TRACE(whom);
    std::string script = "rm -f rows.csv*\ncommand mpirun --oversubscribe -n 2 $stepcast ";
    script += kMany;
    script +=
        " --output rows.csv &\nlauncher=$!\n"
        "until [ \"$(wc -l < rows.csv 2>/dev/null || echo 0)\" -gt 40 ]; do :; done\nkill -9 ";
    script += whom;
    script += "\nwait $launcher\nuntil flock -n rows.csv true; do sleep 0.01; done\ncp rows.csv before.csv";
    const Outcome killed = run(script);
    const std::string whole = text_of("whole.csv"), before = text_of("before.csv");
    EXPECT_GT(before.size(), 1000u) << killed.err;
    EXPECT_LT(before.size(), whole.size()) << "they ended before they were killed";
    EXPECT_EQ(whole.substr(0, before.size()), before);
    const Outcome resumed = run("mpirun -n 3 $stepcast " + kMany + " --output rows.csv");
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(text_of("rows.csv"), whole);
  }
}

TEST_F(SweepOfProcesses, WhatOneCannotDoEndsAll) {
  const Outcome folder = run("mpirun -n 3 $stepcast " + kSixteen + " --output missing/rows.csv");
  EXPECT_EQ(folder.status, 1);
  EXPECT_THAT(folder.err, HasSubstr("stepcast: cannot write missing/rows.csv: No such file or directory"));
  const Outcome other = run("echo other > rows.csv\nmpirun -n 2 $stepcast " + kSixteen + " --output rows.csv");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--output: found 'rows.csv'"));
  EXPECT_EQ(text_of("rows.csv"), "other\n");
  // Process 1 alone reads another scenario.
  const Outcome unlike = run("cp " STEPCAST_SOURCE_DIR
                             "/scenarios/quickstart.yaml 0.yaml\nsed 's/^name:.*/name: another/' 0.yaml > 1.yaml\n"
                             "mpirun -n 2 bash -c '$stepcast sweep $OMPI_COMM_WORLD_RANK.yaml --axis "
                             "training.global_batch=64,128 --output unlike.csv'");
  EXPECT_EQ(unlike.status, 2) << unlike.err;
  EXPECT_THAT(unlike.err, HasSubstr("process 1 found other files"));
}

}  // namespace
}  // namespace stepcast::app
