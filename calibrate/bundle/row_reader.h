#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "calibrate/bundle/measured_table.h"
#include "sim/units.h"

namespace stepcast::calibrate {

/// Reads the cells of a row from left to right; each call takes the next one. All throw InputError with
/// file:line: column: found, expected.
class RowReader {
 public:
  RowReader(const MeasuredRow& row, std::span<const std::string_view> columns) : row_(row), columns_(columns) {}

  std::string text();  ///< not empty
  std::string word();  ///< letters, digits and "_-."; "-" for none
  std::string choice(std::initializer_list<std::string_view> words);
  std::int64_t whole(std::int64_t least, std::int64_t most);
  std::int64_t whole_or_none(std::int64_t most);  ///< 0 for an empty cell and "-"
  std::optional<double> number();                 ///< nothing for an empty cell and "-"; finite
  Time time();                                    ///< seconds, above 0, up to a day
  bool flag();                                    ///< 0 or 1

  /// Complains of the cell taken last.
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  const std::string& take() { return row_.cells[next_++]; }

  const MeasuredRow& row_;
  std::span<const std::string_view> columns_;
  std::size_t next_ = 0;
};

}  // namespace stepcast::calibrate
