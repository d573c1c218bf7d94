#include "topology/hostlist.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::topology {
namespace {

constexpr std::size_t kMostNames = 100'000;
constexpr std::size_t kMostDigits = 9;
constexpr std::size_t kLongestName = 255;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_of_a_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' ||
         c == ':';
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

class HostlistReader {
 public:
  HostlistReader(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  std::vector<std::string> read() {
    if (text_.empty()) fail("found an empty list of nodes, expected names such as 'gpu[001-064]'");
    do {
      one_item();
    } while (take(','));
    if (at_ < text_.size()) unexpected("a comma or the end");
    return std::move(names_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_, what); }
  [[noreturn]] void unexpected(const std::string& expected) const {
    const std::string found = at_ < text_.size() ? in_quotes(text_.substr(at_, 1)) : std::string("the end");
    fail("list of nodes " + in_quotes(text_) + ": found " + found + " as character " + std::to_string(at_ + 1) +
         ", expected " + expected);
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// One name, or the names of its brackets.
  void one_item() {
    std::vector<std::string> all{std::string()};
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',') {
      if (take('[')) {
        append_each(all, bracket());
      } else if (is_of_a_name(text_[at_])) {
        for (std::string& name : all) name += text_[at_];
        ++at_;
      } else {
        unexpected("a name, '[' or a comma");
      }
    }
    if (at_ == begin) unexpected("a name");
    for (const std::string& name : all)
      if (name.size() > kLongestName) fail("list of nodes: found a name of more than 255 characters, expected fewer");
    check_size(names_.size() + all.size());
    std::ranges::move(all, std::back_inserter(names_));
  }

  void check_size(std::size_t names) const {
    if (names > kMostNames) fail("list of nodes: found more than 100000 names, expected fewer");
  }

  void append_each(std::vector<std::string>& names, const std::vector<std::string>& numbers) const {
    check_size(names.size() * numbers.size());
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& number : numbers) longer.push_back(name + number);
    names = std::move(longer);
  }

  std::vector<std::string> bracket() {
    std::vector<std::string> numbers;
    do {
      const std::size_t begin = at_;
      const auto [first, width] = number();
      const std::uint64_t last = take('-') ? number().first : first;
      if (last < first) {
        at_ = begin;
        unexpected("a range that goes up");
      }
      check_size(numbers.size() + (last - first) + 1);
      for (std::uint64_t n = first; n <= last; ++n) numbers.push_back(padded(n, width));
    } while (take(','));
    if (!take(']')) unexpected("a number, '-', ',' or ']'");
    return numbers;
  }

  /// With how many digits it is written.
  std::pair<std::uint64_t, std::size_t> number() {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      if (at_ - begin == kMostDigits) unexpected("a number of at most 9 digits");
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
    }
    if (at_ == begin) unexpected("a number");
    return {value, at_ - begin};
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
};

/// A name as the text before its last number, that number, and the text behind it.
struct Numbered {
  std::string_view before, digits, behind;
  std::uint64_t number = 0;
};

std::optional<Numbered> numbered(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1]) && end - begin < kMostDigits) --begin;
  if (begin == end) return std::nullopt;
  Numbered parts{name.substr(0, begin), name.substr(begin, end - begin), name.substr(end), 0};
  std::from_chars(parts.digits.data(), parts.digits.data() + parts.digits.size(), parts.number);
  return parts;
}

/// Whether `next` is written as a range that begins at `first` would write it.
bool in_one_bracket(const Numbered& first, const Numbered& next) {
  return first.before == next.before && first.behind == next.behind;
}

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view text, const std::string& place) {
  return HostlistReader(text, place).read();
}

std::string fold_hostlist(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const std::optional<Numbered> first = numbered(names[i]);
    std::size_t end = i + 1;  // of the names of one bracket
    std::string inside;
    if (first) {
      std::size_t at = i;
      end = i;
      while (at < names.size()) {
        const std::optional<Numbered> start = numbered(names[at]);
        if (!start || !in_one_bracket(*first, *start)) break;
        std::uint64_t last = start->number;
        std::size_t next = at + 1;
        for (; next < names.size(); ++next) {
          const std::optional<Numbered> more = numbered(names[next]);
          if (!more || !in_one_bracket(*first, *more) || more->number != last + 1 ||
              more->digits != padded(last + 1, start->digits.size()))
            break;
          ++last;
        }
        inside += (inside.empty() ? "" : ",") + std::string(start->digits);
        if (next - at > 1) inside += "-" + padded(last, start->digits.size());
        at = end = next;
      }
    }
    out += out.empty() ? "" : ",";
    if (end - i == 1)
      out += names[i];
    else
      out += std::string(first->before) + "[" + inside + "]" + std::string(first->behind);
    i = end;
  }
  return out;
}

}  // namespace stepcast::topology
