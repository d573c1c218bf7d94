#include "app/report/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

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
  show_tables_on(Terminal{.width = 20});
  const std::string text = table_of_four().text();
  show_tables_on(Terminal{.width = 5});  // no room for any: one column beside the first all the same
  const std::string narrow = table_of_four().text();
  show_tables_on(std::nullopt);
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
  show_tables_on(Terminal{.width = 12});
  const std::string text = table.text();
  show_tables_on(std::nullopt);
  EXPECT_EQ(text, "name  first\na         1  a remark that is wider than all else\n");
}

TEST(TextTable, WordsOfTheLastColumnGoOnInLinesOfTheirOwn) {
  TextTable table({{"name", TextTable::Align::left}, {"", TextTable::Align::left}});
  table.add({"a", "a remark that is wider than all of the terminal is"});
  table.add({"b", "short"});
  show_tables_on(Terminal{.width = 32});
  const std::string text = table.text();
  show_tables_on(std::nullopt);
  EXPECT_EQ(text,
            "name\n"
            "a     a remark that is wider\n"
            "      than all of the terminal\n"
            "      is\n"
            "b     short\n");
}

/// What a terminal of so many columns shows of a key with its default and what it is for.
std::string keys_on(std::size_t width) {
  TextTable table({{"key", TextTable::Align::left}, {"default", TextTable::Align::left}, {"", TextTable::Align::left}});
  table.add({"training.sequence", "required where samples have tokens", "tokens of a sample"});
  table.add({"training.micro_batch", "1", "samples that go through the model at once"});
  show_tables_on(Terminal{.width = width});
  std::string text = table.text();
  show_tables_on(std::nullopt);
  return text;
}

TEST(TextTable, ColumnsOfWordsShareWhatATerminalHas) {
  EXPECT_EQ(keys_on(70),
            "key                   default\n"
            "training.sequence     required where  tokens of a sample\n"
            "                      samples have\n"
            "                      tokens\n"
            "training.micro_batch  1               samples that go through the\n"
            "                                      model at once\n");
}

TEST(TextTable, WordsStandBelowTheirRowWhereLittleRoomIsBesideIt) {
  EXPECT_EQ(keys_on(44),
            "key                   default\n"
            "training.sequence     required where samples\n"
            "                      have tokens\n"
            "    tokens of a sample\n"
            "training.micro_batch  1\n"
            "    samples that go through the model at\n"
            "    once\n");
}

TEST(TextTable, OfOneColumnIsOneBlock) {
  TextTable table({{"name", TextTable::Align::left}});
  table.add({"a"});
  show_tables_on(Terminal{.width = 1});
  const std::string text = table.text();
  show_tables_on(std::nullopt);
  EXPECT_EQ(text, "name\na\n");
}

/// A table of four with bars of 1 and 2 beside its second column.
std::string drawn_on(std::optional<Terminal> terminal) {
  TextTable table = table_of_four();
  table.draw_bars(1, {plain_bar(1), plain_bar(2)});
  show_tables_on(terminal);
  std::string text = table.text();
  show_tables_on(std::nullopt);
  return text;
}

TEST(TextTable, HasBarsOnATerminalAlone) {
  EXPECT_EQ(drawn_on(std::nullopt), table_of_four().text());
  EXPECT_EQ(drawn_on(Terminal{.width = 80}),
            "name  first                    second  third\n"
            "a         1  ########               2      3\n"
            "long     10  ################      20     30\n");
  EXPECT_EQ(drawn_on(Terminal{.width = 40}), table_of_four().text()) << "no room for bars";
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

/// What a pseudo-terminal of so many columns shows of a command.
std::string on_terminal(const std::string& words, int columns) {
  return run_script("STEPCAST_PROGRESS=none LC_ALL=C NO_COLOR=1 script -qec 'stty cols " + std::to_string(columns) +
                    "; \"$stepcast\" " + words + "' /dev/null </dev/null")
      .out;
}

TEST(TextTable, IsAsWideAsTheTerminalThatShowsIt) {
  const std::string command = "\"$stepcast\" collective --node dgx-h100 --op all_reduce --sizes 1MiB --algorithm all";
  const Outcome piped = run_script(command);
  ASSERT_EQ(piped.status, 0) << piped.err;
  ASSERT_GT(longest_line(piped.out), 60u);
  const Outcome shown = run_script("script -qec 'stty cols 60; " + command + "' /dev/null </dev/null");
  EXPECT_LE(longest_line(shown.out), 60u) << shown.out;
  for (const std::string words : {"help", "show dgx-h100", "list schedules", "run scenarios/quickstart.yaml",
                                  "search scenarios/pipeline-by-hand.yaml --budget 1"}) {
    const std::string narrow = on_terminal(words, 80);
    EXPECT_LE(longest_line(narrow), 80u) << narrow;
  }
}

TEST(TextTable, KeysHelpAndWhatIsShownFitSixtyColumns) {
  LEFT_TO_RELEASE();
  std::vector<std::string> all{
      "keys", "keys training.precision", "show h100-sxm5-80gb", "show megatron-core", "show models/gpt3-175b", "list"};
  for (const Command* command : commands()) all.push_back(std::string(command->name) + " --help");
  for (const std::string& words : all) {
    const std::string shown = on_terminal(words, 60);
    EXPECT_GT(longest_line(shown), 30u) << words;
    EXPECT_LE(longest_line(shown), 60u) << words << '\n' << shown;
  }
}

TEST(Help, ACommandThatIsTooWideGoesOnBehindABackslash) {
  const std::string shown = on_terminal("run --help", 60);
  EXPECT_THAT(shown, HasSubstr("  stepcast run scenarios/quickstart.yaml --set \\\r\n      recompute=full\r\n"));
}

}  // namespace
}  // namespace stepcast::app
