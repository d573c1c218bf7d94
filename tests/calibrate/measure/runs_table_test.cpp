#include "calibrate/measure/host/runs_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace stepcast::measure {
namespace {

TEST(RunsTable, GoesOnWhereItStopped) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "runs_table_test.csv";
  std::filesystem::remove(file);
  RunsTable({file}, {"name", "note"}).add({"a", "one, two"});
  RunsTable again(file, {"name", "note"});
  EXPECT_TRUE(again.has("a"));
  EXPECT_FALSE(again.has("b"));
  EXPECT_THROW(again.add({"a", ""}), std::logic_error);
  again.add({"b", ""});
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, "name,note\na,\"one, two\"\nb,\n");
  EXPECT_THROW(RunsTable(file, {"name"}), std::runtime_error);
}

}  // namespace
}  // namespace stepcast::measure
