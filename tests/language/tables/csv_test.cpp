#include "language/tables/csv.h"

#include <gtest/gtest.h>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows(const std::string& text) {
  Rows all;
  for (const Record& record : parse_csv(text, "t.csv")) {
    all.emplace_back();
    for (const Cell& cell : record) all.back().push_back(cell.text);
  }
  return all;
}

TEST(Csv, QuotedCellsHoldCommasQuotesAndLineEnds) {
  EXPECT_EQ(rows("a,\"b,c\"\n\"say \"\"hi\"\"\",\"two\nlines\"\n"), (Rows{{"a", "b,c"}, {"say \"hi\"", "two\nlines"}}));
}

TEST(Csv, LinesEndInLfCrlfCrOrTheEndOfTheFile) {
  EXPECT_EQ(rows("a,b\r\nc,d\re,f\ng,h"), (Rows{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}}));
}

TEST(Csv, EmptyCellsCountAndEmptyLinesDoNot) {
  EXPECT_EQ(rows(",\n\n\r\na,\n"), (Rows{{"", ""}, {"a", ""}}));
  EXPECT_EQ(rows("\"\"\n"), (Rows{{""}}));
}

TEST(Csv, BlanksAroundUnquotedCellsGo) { EXPECT_EQ(rows(" a\t, b c ,\" d \"\n"), (Rows{{"a", "b c", " d "}})); }

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstCell) { EXPECT_EQ(rows("\xef\xbb\xbfname,x\n"), (Rows{{"name", "x"}})); }

TEST(Csv, PlacesCountCharactersNotBytes) {
  const std::vector<Record> records = parse_csv("\"\xc3\xa4\n\",b\nc,d\n", "t.csv");
  EXPECT_EQ(text(records[0][1].place), "t.csv:2:3");  // behind a quoted line end
  EXPECT_EQ(text(records[1][1].place), "t.csv:3:3");
  EXPECT_EQ(text(parse_csv("\xc3\xa4\xc3\xb6,b\n", "t.csv")[0][1].place), "t.csv:1:4");
}

TEST(Csv, BrokenQuotesAreNamedWhereTheyStand) {
  EXPECT_EQ(complaint([] { rows("a,b\nc,\"d\n"); }), "t.csv:2:3: found a quote that never ends, expected a closing \"");
  EXPECT_EQ(complaint([] { rows("a,b\"c\n"); }),
            "t.csv:1:4: found a quote inside a cell, expected the whole cell in quotes");
  EXPECT_EQ(complaint([] { rows("\"a\"b\n"); }),
            "t.csv:1:4: found more after a closing quote, expected a comma (write \"\" for a quote)");
}

TEST(Csv, CellsOfARowAreFew) {
  EXPECT_EQ(rows(std::string(999, ',')).front().size(), 1000u);
  EXPECT_EQ(complaint([] { rows("a\n" + std::string(900'000, ',')); }),
            "t.csv:2:1001: found more than 1000 cells in one row, expected fewer");
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  const std::vector<std::string> cells = {"plain", "a,b", "say \"hi\"", "two\nlines", " blanks ", "", "\t"};
  std::string line;
  for (const std::string& cell : cells) {
    if (!line.empty()) line += ',';
    line.append(csv_cell(cell));
  }
  EXPECT_EQ(rows(line), (Rows{cells}));
}

}  // namespace
}  // namespace stepcast::language
