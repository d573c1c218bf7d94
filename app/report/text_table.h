#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/bar.h"
#include "app/report/terminal.h"

namespace stepcast::app {

/// A table for people: columns as wide as their widest cell, two blanks between them.
class TextTable {
 public:
  enum class Align : char { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Requires as many cells as there are columns. What a terminal would act on stands as escapes.
  void add(std::vector<std::string> cells);

  /// Where a terminal shows the table, beside column `beside`: a bar for each row, in their order, the longest of them
  /// as wide as they can be.
  void draw_bars(std::size_t beside, std::vector<Bar> bars);

  /// Title line and rows, each ended by a newline and without trailing blanks. A table that is wider than the terminal
  /// stands in several blocks, one below the other, each beginning with the first column. Words of a block's last
  /// column that stands left go on in lines of their own.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t beside_ = 0;
  std::vector<Bar> bars_;
};

/// From now on tables are for this terminal: none is wider, as far as two of its own columns are not, and bars are
/// drawn. Nothing, as at first: they are for files, of any width and without bars.
void show_tables_on(std::optional<Terminal> terminal);
/// What the legend of bars is drawn on; nothing where none are.
const std::optional<Terminal>& tables_shown_on();

/// A record of CSV (RFC 4180) and its line end. What a terminal would act on stands as escapes, but for line ends.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stepcast::app
