#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "language/core/tree.h"

namespace stepcast::language {

/// Reads one line of another program's text from left to right. What is not as demanded is an InputError with
/// file:line:column.
class LineScanner {
 public:
  /// `place`: of the line's first character. A carriage return at its end is not part of it.
  LineScanner(std::string_view line, Place place);

  Place place() const;  ///< of the next character
  const Place& line_place() const { return start_; }
  std::string_view rest() const { return line_.substr(at_); }
  bool at_end() const { return at_ == line_.size(); }

  void blanks();                     ///< passes over blanks and tabs
  void skip();                       ///< passes over a character; requires one
  bool take(std::string_view text);  ///< passes over the text, if it stands here
  void demand(std::string_view text);
  std::uint32_t number();     ///< decimal digits, at most 9
  std::string_view quoted();  ///< what stands between two quotes
  std::string_view word();    ///< up to a blank; not empty

  [[noreturn]] void unexpected(const std::string& wanted) const;

 private:
  std::string_view line_;
  Place start_;
  std::size_t at_ = 0;
};

}  // namespace stepcast::language
