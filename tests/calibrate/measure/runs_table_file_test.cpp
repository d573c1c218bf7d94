#include "calibrate/measure/host/runs_table_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace stepcast::measure {
namespace {

TEST(RunsTableFile, GoesOnWhereItStopped) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "runs_table_test.csv";
  std::filesystem::remove(file);
  RunsTableFile({file}, {"name", "note"}).add({"a", "one, two"});
  RunsTableFile again(file, {"name", "note"});
  EXPECT_TRUE(again.has("a"));
  EXPECT_FALSE(again.has("b"));
  EXPECT_THROW(again.add({"a", ""}), std::logic_error);
  again.add({"b", ""});
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, "name,note\na,\"one, two\"\nb,\n");
  EXPECT_THROW(RunsTableFile(file, {"name"}), std::runtime_error);
}

}  // namespace
}  // namespace stepcast::measure
