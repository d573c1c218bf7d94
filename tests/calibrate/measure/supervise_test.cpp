#include "calibrate/measure/host/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>

#include "calibrate/measure/host/case_journal.h"
#include "calibrate/measure/host/refusals.h"
#include "calibrate/measure/host/watchdog.h"

namespace stepcast::measure {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder of a bundle, and scripts that stand in for the measuring program: they write its journal and end as it
/// might.
class Supervised : public testing::Test {
 protected:
  Supervised() : folder_(fs::temp_directory_path() / ("stepcast-supervise-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Supervised() override { fs::remove_all(folder_); }

  int run(
      const std::string& script, std::function<double()> now = [] { return 0.0; }) {
    Supervision how;
    how.folder = folder_;
    how.run = "r1";
    how.now = std::move(now);
    how.say = [&](const std::string& line) { said_.push_back(line); };
    return supervise({"/bin/sh", "-c",
                      "cd '" + folder_.string() +
                          "'; at() { printf 'nccl\n%s\n%s\n' \"$1\" \"$2\" "
                          ">j.new; mv j.new under_way.tmp; }\n" +
                          script},
                     how);
  }
  std::string refused() const {
    std::ifstream stream(folder_ / "refused.csv.part");
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
  std::vector<std::string> said_;
};

TEST_F(Supervised, ACaseThatEndsTheProgramIsARowAndTheRestGoesOn) {
  // Passes over what is refused, as the program does; the second case dies, the third gives up.
  EXPECT_EQ(run("for c in one two three four; do\n"
                "  grep -qs \"nccl,$c,\" refused.csv.part && continue\n"
                "  at $c ''; echo $c >>tried\n"
                "  [ $c != two ] || kill -SEGV $$\n"
                "  [ $c != three ] || { at $c 'rank 3: no algorithm'; exit 5; }\n"
                "  rm under_way.tmp\n"
                "done"),
            0);
  EXPECT_THAT(refused(), HasSubstr("\nnccl,two,ended by signal 11\nnccl,three,rank 3: no algorithm\n"));
  EXPECT_THAT(said_, ElementsAre("nccl: not measured: two: ended by signal 11",
                                 "nccl: not measured: three: rank 3: no algorithm"));
  std::ifstream tried(folder_ / "tried");
  const std::vector<std::string> cases{std::istream_iterator<std::string>(tried), {}};
  EXPECT_EQ(std::count(cases.begin(), cases.end(), "two"), 1);
  EXPECT_EQ(std::count(cases.begin(), cases.end(), "three"), 1);
  EXPECT_EQ(cases.back(), "four");
  EXPECT_FALSE(fs::exists(folder_ / "under_way.tmp"));
}

TEST_F(Supervised, AProgramThatHangsIsEndedAndItsCaseNamed) {
  double clock = 0;
  EXPECT_EQ(
      run("grep -qs nccl,slow, refused.csv.part && exit 0; at slow ''; exec sleep 1000", [&] { return clock += 200; }),
      0);
  EXPECT_THAT(refused(), HasSubstr("\nnccl,slow,hung: ended after 300 s\n"));
}

TEST_F(Supervised, AFailureThatIsOfNoCaseEndsIt) {
  EXPECT_EQ(run("exit 1"), 1);
  EXPECT_EQ(run("at one ''; exit 1"), 1);              // it said why itself, and a later start tries the case again
  EXPECT_EQ(run("at one ''; kill -INT $$"), 128 + 2);  // the user's
  EXPECT_FALSE(fs::exists(folder_ / "refused.csv.part"));
}

TEST_F(Supervised, AProgramThatDoesNotPassOverItsCaseIsNotStartedForEver) {
  EXPECT_EQ(run("at one 'rank 0: no'; echo x >>starts; exit 5"), kHung);
  EXPECT_EQ(fs::file_size(folder_ / "starts"), 4u);  // twice
}

TEST_F(Supervised, RefusalsAreKeptAndAJournalSaysWhatIsUnderWay) {
  {
    Refusals refused(folder_, "r1");
    refused.add("nccl", "all_reduce, GPUs 0 1", "no\nalgorithm");
    refused.add("nccl", "all_reduce, GPUs 0 1", "another time");
    refused.finish();
  }
  Refusals again(folder_, "r1");
  EXPECT_TRUE(again.has("nccl", "all_reduce, GPUs 0 1"));
  EXPECT_FALSE(again.has("steps", "all_reduce, GPUs 0 1"));
  CaseJournal journal(folder_);
  EXPECT_FALSE(journal.under_way());
  journal.begin("steps", "gpt");
  journal.give_up("rank 1:\nhung");
  EXPECT_EQ(CaseJournal(folder_).under_way(), (CaseJournal::CaseUnderWay{"steps", "gpt", "rank 1: hung"}));
  journal.end();
  EXPECT_FALSE(journal.under_way());
}

TEST(Watchdog, BarksOnceAtWhatTakesTooLongAndNotAtWhatIsDone) {
  std::atomic<int> clock = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> barks;
  Watchdog dog(
      [&](const std::string& what) {
        const std::lock_guard lock(mutex);
        barks.push_back(what);
        changed.notify_all();
      },
      [&] { return static_cast<double>(clock); });
  dog.expect("quick", 10);
  dog.rest();
  clock = 1000;
  dog.expect("slow", 10);
  clock = 2000;
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return !barks.empty(); }));
  EXPECT_THAT(barks, ElementsAre("slow"));
}

}  // namespace
}  // namespace stepcast::measure
