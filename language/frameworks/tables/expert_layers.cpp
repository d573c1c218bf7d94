#include "language/frameworks/tables/expert_layers.h"

#include <charconv>
#include <utility>

namespace stepcast::language {
namespace {

/// A whole number or a list of them, as Python has them.
struct PythonValue {
  std::vector<std::int64_t> numbers;  ///< of a list all, else one
  bool is_list = false;
};
using Evaluated = std::optional<PythonValue>;

/// More layers than any model has.
constexpr std::size_t kMostNumbers = 100'000;
constexpr std::int64_t kMostNumber = 100'000;
constexpr int kMostDepth = 20;

/// Sums and products of whole numbers and of lists, with brackets around them.
class PythonList {
 public:
  explicit PythonList(std::string_view text) : text_(text) {}

  Evaluated whole() {
    Evaluated value = sum();
    return peek() == '\0' ? value : std::nullopt;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Evaluated sum() {
    Evaluated all = product();
    while (all && take('+')) {
      const Evaluated next = product();
      if (!next || next->is_list != all->is_list) return std::nullopt;
      if (all->is_list)
        all->numbers.insert(all->numbers.end(), next->numbers.begin(), next->numbers.end());
      else
        all->numbers[0] += next->numbers[0];
      if (!is_small(*all)) return std::nullopt;
    }
    return all;
  }

  Evaluated product() {
    Evaluated all = piece();
    while (all && take('*')) {
      const Evaluated next = piece();
      if (!next || (next->is_list && all->is_list)) return std::nullopt;
      const PythonValue& list = next->is_list ? *next : *all;
      const std::int64_t times = next->is_list ? all->numbers[0] : next->numbers[0];
      PythonValue repeated{.numbers = {}, .is_list = list.is_list};
      if (!list.is_list)
        repeated.numbers = {list.numbers[0] * times};
      else if (times * static_cast<std::int64_t>(list.numbers.size()) > kMostNumber)
        return std::nullopt;
      for (std::int64_t i = 0; list.is_list && i < times; ++i)
        repeated.numbers.insert(repeated.numbers.end(), list.numbers.begin(), list.numbers.end());
      if (!is_small(repeated)) return std::nullopt;
      all = std::move(repeated);
    }
    return all;
  }

  Evaluated piece() {
    if (depth_ == kMostDepth) return std::nullopt;
    ++depth_;
    Evaluated value = bracketed();
    --depth_;
    return value;
  }

  Evaluated bracketed() {
    if (take('(')) {
      Evaluated inside = sum();
      return take(')') ? inside : std::nullopt;
    }
    if (!take('[')) return number();
    PythonValue list{.numbers = {}, .is_list = true};
    while (!take(']')) {
      const Evaluated each = sum();
      if (!each || each->is_list) return std::nullopt;
      list.numbers.push_back(each->numbers[0]);
      if (!take(',') && peek() != ']') return std::nullopt;
    }
    return list;
  }

  Evaluated number() {
    peek();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0 || value > kMostNumber) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return PythonValue{.numbers = {value}};
  }

  static bool is_small(const PythonValue& value) {
    return value.numbers.size() <= kMostNumbers && (value.is_list || value.numbers[0] <= kMostNumber);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::vector<bool>> expert_layers(std::string_view text, std::int64_t layers) {
  const Evaluated value = PythonList(text).whole();
  if (!value) return std::nullopt;
  const auto count = static_cast<std::size_t>(layers);
  if (value->is_list ? value->numbers.size() != count : value->numbers[0] == 0) return std::nullopt;
  std::vector<bool> routes;
  for (std::size_t layer = 0; layer < count; ++layer) {
    const std::int64_t said = value->is_list                                             ? value->numbers[layer]
                              : layer % static_cast<std::size_t>(value->numbers[0]) == 0 ? 1
                                                                                         : 0;
    if (said > 1) return std::nullopt;
    routes.push_back(said == 1);
  }
  return routes;
}

}  // namespace stepcast::language
