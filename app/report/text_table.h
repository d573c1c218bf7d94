#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

  /// Title line and rows, each ended by a newline and without trailing blanks. A table that is wider than fit_tables()
  /// allows stands in several blocks, one below the other, each beginning with the first column.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// From now on no table is wider than so many columns, as far as two of its own columns are not. 0, at first: any
/// width.
void fit_tables(std::size_t width);

/// A record of CSV (RFC 4180) and its line end. What a terminal would act on stands as escapes, but for line ends.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stepcast::app
