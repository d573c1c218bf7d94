#include "calibrate/measure/host/bundle_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "calibrate/bundle/measured_table.h"
#include "calibrate/measure/host/sha256.h"

namespace stepcast::measure {
namespace {

namespace fs = std::filesystem;

class MeasureTable : public testing::Test {
 protected:
  MeasureTable()
      : folder_(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MeasureTable() override { fs::remove_all(folder_); }
  BundleTable open(const std::string& run = "r1") const { return {file(), run, {"name", "bytes", "median_s"}, 2}; }
  fs::path file() const { return folder_ / "copies.csv"; }
  std::string text(const fs::path& path) const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_F(MeasureTable, HasNoNameUntilItIsFinished) {
  BundleTable table = open();
  table.add({"h2d", "1", seconds_cell(1.25e-5)});
  EXPECT_FALSE(fs::exists(file()));
  table.finish();
  EXPECT_EQ(text(file()), "# stepcast measurement 1\n# run r1\nname,bytes,median_s\nh2d,1,1.250000e-05\n# end 1\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing else is left";
}

TEST_F(MeasureTable, StepcastReadsIt) {
  BundleTable table = open();
  table.add({"a, \"b\"", "1", "2"});
  table.finish();
  const std::vector<std::string_view> columns{"name", "bytes", "median_s"};
  const auto read = calibrate::parse_measured_table(text(file()), "f", columns);
  EXPECT_EQ(read.run, "r1");
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].cells, (std::vector<std::string>{"a, \"b\"", "1", "2"}));
}

TEST_F(MeasureTable, ASecondStartGoesOnWhereTheFirstWasKilled) {
  open().add({"h2d", "1", "1.0"});
  std::ofstream(file().string() + ".part", std::ios::app) << "h2d,2,1.0\nd2h,4";  // killed inside a line
  BundleTable again = open();
  EXPECT_TRUE(again.has({"h2d", "1"}));
  EXPECT_TRUE(again.has({"h2d", "2"}));
  EXPECT_FALSE(again.has({"d2h", "4"}));
  again.add({"d2h", "4", "3.0"});
  again.finish();
  EXPECT_EQ(text(file()),
            "# stepcast measurement 1\n# run r1\nname,bytes,median_s\nh2d,1,1.0\nh2d,2,1.0\nd2h,4,3.0\n# end 3\n");
}

TEST_F(MeasureTable, AFinishedTableTakesMoreRows) {
  BundleTable first = open();
  first.add({"h2d", "1", "1.0"});
  first.finish();
  BundleTable second = open();
  EXPECT_TRUE(second.has({"h2d", "1"}));
  second.add({"h2d", "2", "1.0"});
  second.finish();
  EXPECT_NE(text(file()).find("h2d,1,1.0\nh2d,2,1.0\n# end 2\n"), std::string::npos);
}

TEST_F(MeasureTable, RowsOfAnotherProcessAreSeenAfterRefresh) {
  BundleTable mine = open();
  open().add({"p2p", "8", "1.0"});
  EXPECT_FALSE(mine.has({"p2p", "8"}));
  mine.refresh();
  EXPECT_TRUE(mine.has({"p2p", "8"}));
}

TEST_F(MeasureTable, AnotherRunOrFormIsRefused) {
  open("r1").add({"h2d", "1", "1.0"});
  EXPECT_THROW(open("r2"), std::runtime_error);
  EXPECT_THROW(BundleTable(file(), "r1", {"name", "median_s"}, 1), std::runtime_error);
}

TEST_F(MeasureTable, ARowTwiceIsOurFault) {
  BundleTable table = open();
  table.add({"h2d", "1", "1.0"});
  EXPECT_THROW(table.add({"h2d", "1", "2.0"}), std::logic_error);
  EXPECT_THROW(table.add({"h2d", "1"}), std::logic_error);
}

TEST_F(MeasureTable, TheRunOfAFileIsReadFromIt) {
  open("r7").finish();
  EXPECT_EQ(run_of(file()), "r7");
  EXPECT_EQ(run_of(folder_ / "none.csv"), "");
}

TEST(MeasureCells, QuotingIsUndoneByReading) {
  for (const std::string cell : {"plain", "a,b", "say \"x\"", "", "\",\""}) {
    EXPECT_EQ(cells_of(in_quotes(cell) + ",end"), (std::vector<std::string>{cell, "end"})) << cell;
  }
  EXPECT_EQ(in_quotes("a\nb\xc3"), "a?b?");
}

TEST(MeasureSha256, KnownAnswers) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace stepcast::measure
