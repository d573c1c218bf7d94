#include "calibrate/measure/host/time_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "calibrate/measure/host/runs_table_file.h"

namespace stepcast::measure {
namespace {

/// A suite whose cases take four seconds each by its own clock and are rows of a table.
struct Suite {
  std::filesystem::path file;
  std::vector<std::string> plan{"a", "b", "c", "d", "e"};
  double now = 100;

  /// Cases left out.
  std::size_t run(double seconds) {
    RunsTableFile table(file, {"name", "seconds"});
    const TimeLimit limit(seconds, [&] { return now; });
    return measure_in_time(
        plan, [&](const std::string& one) { return table.has(one); }, [&] { return limit.over(); },
        [&](const std::string& one) {
          now += 4;
          table.add({one, "4"});
        });
  }
  std::string text() const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

Suite suite_in(const char* name) {
  Suite suite{std::filesystem::path(testing::TempDir()) / name};
  std::filesystem::remove(suite.file);
  return suite;
}

TEST(TimeLimit, NothingStartsAfterItAndWhatWasMeasuredIsWhole) {
  Suite suite = suite_in("time_limit_test.csv");
  EXPECT_EQ(suite.run(9), 2u);  // begun at 0, 4 and 8 seconds
  EXPECT_EQ(suite.text(), "name,seconds\na,4\nb,4\nc,4\n");
}

TEST(TimeLimit, StartedAgainItGoesOnToTheSameTable) {
  Suite suite = suite_in("time_limit_test_again.csv"), whole = suite_in("time_limit_test_whole.csv");
  EXPECT_EQ(whole.run(0), 0u);  // none
  EXPECT_EQ(suite.run(3), 4u);
  EXPECT_EQ(suite.run(5), 2u);
  EXPECT_EQ(suite.run(5), 0u);
  EXPECT_EQ(suite.text(), whole.text());
  const double before = suite.now;
  EXPECT_EQ(suite.run(1), 0u);  // nothing is left to do
  EXPECT_EQ(suite.now, before);
}

TEST(TimeLimit, SaysInOneLineWhatWasLeftOut) {
  EXPECT_EQ(left_out_line(3, 60, "training steps"),
            "time limit: 3 of 60 training steps are not measured; start it again to go on");
}

}  // namespace
}  // namespace stepcast::measure
