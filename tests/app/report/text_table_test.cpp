#include "app/report/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/program.h"
#include "tests/app/script.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;

TextTable table_of_four() {
  TextTable table({{"name", TextTable::Align::left}, {"first"}, {"second"}, {"third"}});
  table.add({"a", "1", "2", "3"});
  table.add({"long", "10", "20", "30"});
  return table;
}

TEST(TextTable, HasColumnsAsWideAsTheirWidestCell) {
  EXPECT_EQ(table_of_four().text(),
            "name  first  second  third\n"
            "a         1       2      3\n"
            "long     10      20     30\n");
}

TEST(TextTable, ThatIsTooWideStandsInBlocks) {
  fit_tables(20);
  const std::string text = table_of_four().text();
  fit_tables(5);  // no room for any: one column beside the first all the same
  const std::string narrow = table_of_four().text();
  fit_tables(0);
  EXPECT_EQ(text,
            "name  first  second\n"
            "a         1       2\n"
            "long     10      20\n"
            "\n"
            "name  third\n"
            "a         3\n"
            "long     30\n");
  EXPECT_THAT(narrow, HasSubstr("name  first\na         1\n"));
  EXPECT_THAT(narrow, HasSubstr("\n\nname  second\n"));
}

TEST(TextTable, RemarksStayBesideTheirRow) {
  TextTable table({{"name", TextTable::Align::left}, {"first"}, {"", TextTable::Align::left}});
  table.add({"a", "1", "a remark that is wider than all else"});
  fit_tables(12);
  const std::string text = table.text();
  fit_tables(0);
  EXPECT_EQ(text, "name  first\na         1  a remark that is wider than all else\n");
}

TEST(TextTable, OfOneColumnIsOneBlock) {
  TextTable table({{"name", TextTable::Align::left}});
  table.add({"a"});
  fit_tables(1);
  const std::string text = table.text();
  fit_tables(0);
  EXPECT_EQ(text, "name\na\n");
}

TEST(TextTable, IsAsWideAsTheTerminalThatShowsIt) {
  const auto longest_line = [](const std::string& text) {
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      longest = std::max(longest, end - begin);
      begin = end + 1;
    }
    return longest;
  };
  const std::string command = "\"$stepcast\" collective --node dgx-h100 --op all_reduce --sizes 1MiB --algorithm all";
  const Outcome piped = run_script(command);
  ASSERT_EQ(piped.status, 0) << piped.err;
  ASSERT_GT(longest_line(piped.out), 60u);
  const Outcome shown = run_script("script -qec 'stty cols 60; " + command + "' /dev/null </dev/null");
  EXPECT_LE(longest_line(shown.out), 60u) << shown.out;
}

}  // namespace
}  // namespace stepcast::app
