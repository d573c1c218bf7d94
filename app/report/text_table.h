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

  /// Title line and rows, each ended by a newline and without trailing blanks. On a terminal that is narrower, words of
  /// columns that stand left go on in lines of their own, or below the row where little room is left beside it. What is
  /// wider even so stands in several panels, one below the other, each beginning with the first column.
  std::string text(std::string_view indent = "") const;

 private:
  /// Columns first, ..., end - 1 behind column 0, as they are shown.
  struct Panel {
    std::size_t first = 0, end = 0;
    std::vector<std::size_t> widths{};  ///< of all columns of the table
    std::vector<std::size_t> below{};   ///< columns whose words stand below the row
  };
  std::vector<std::size_t> widths() const;
  bool has_bars() const;
  bool holds_words(std::size_t column) const;
  /// Below which words of a column are not wrapped.
  std::size_t least_width(std::size_t column, std::size_t natural) const;
  Panel panel_from(std::size_t first, std::size_t indent, const std::vector<std::size_t>& natural) const;
  /// Makes a panel no wider than the terminal, as far as its words allow.
  void fit(Panel& panel, std::size_t indent) const;
  /// Shares the terminal out among columns of words before `end`; false where that is too little, and the widths are
  /// no longer those that were. `wide`: of the panel so far.
  bool share(Panel& panel, std::size_t end, std::size_t wide, std::size_t least_of_last) const;
  std::string line(const Panel& panel, std::string_view indent, std::optional<std::size_t> row,
                   double longest_bar) const;

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
