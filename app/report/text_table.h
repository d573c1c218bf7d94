#pragma once

#include <string>
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

  /// Title line and rows, each ended by a newline and without trailing blanks.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A record of CSV (RFC 4180) and its line end. What a terminal would act on stands as escapes, but for line ends.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stepcast::app
