#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"

namespace stepcast::language {

struct Cell {
  std::string text;  ///< quotes undone; blanks around an unquoted cell removed
  Place place;       ///< of its first character
};

using Record = std::vector<Cell>;

/// The records of a CSV file (RFC 4180: quoted cells may hold commas, doubled quotes and line ends; lines end in LF,
/// CRLF or CR; a byte order mark is skipped). Lines without any character are left out. InputError with its place for
/// a quote that never ends or is inside a cell, what is no text, over 1000 cells in a row, and over two million in all.
std::vector<Record> parse_csv(std::string_view text, const std::string& file);

/// A cell as CSV writes it: quoted where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace stepcast::language
