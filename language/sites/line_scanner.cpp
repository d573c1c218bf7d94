#include "language/sites/line_scanner.h"

#include <algorithm>

#include "language/core/type.h"
#include "sim/in_quotes.h"

namespace stepcast::language {

LineScanner::LineScanner(std::string_view line, Place place) : line_(line), start_(std::move(place)) {
  if (line_.ends_with('\r')) line_.remove_suffix(1);
}

Place LineScanner::place() const {
  Place here = start_;
  here.column += static_cast<std::uint32_t>(at_);
  return here;
}

void LineScanner::blanks() {
  while (!at_end() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
}

void LineScanner::skip() { ++at_; }

bool LineScanner::take(std::string_view text) {
  if (!rest().starts_with(text)) return false;
  at_ += text.size();
  return true;
}

void LineScanner::demand(std::string_view text) {
  if (!take(text)) unexpected(in_quotes(std::string(text)));
}

std::uint32_t LineScanner::number() {
  constexpr std::size_t kMostDigits = 9;
  std::uint32_t value = 0;
  std::size_t digits = 0;
  for (; !at_end() && line_[at_] >= '0' && line_[at_] <= '9'; ++at_, ++digits) {
    if (digits == kMostDigits) unexpected("a number of at most 9 digits");
    value = value * 10 + static_cast<std::uint32_t>(line_[at_] - '0');
  }
  if (digits == 0) unexpected("a number");
  return value;
}

std::string_view LineScanner::quoted() {
  demand("\"");
  const std::size_t end = line_.find('"', at_);
  if (end == std::string_view::npos) unexpected("text that a second quote ends");
  const std::string_view text = line_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

std::string_view LineScanner::word() {
  const std::size_t end = std::min(line_.find_first_of(" \t", at_), line_.size());
  if (end == at_) unexpected("a word");
  const std::string_view text = line_.substr(at_, end - at_);
  at_ = end;
  return text;
}

void LineScanner::unexpected(const std::string& wanted) const {
  constexpr std::size_t kShown = 40;
  const std::string here(rest().substr(0, kShown));
  fail(place(), "",
       "found " + (here.empty() ? std::string("the line's end") : in_quotes(here)) + ", expected " + wanted);
}

}  // namespace stepcast::language
