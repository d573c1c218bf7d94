#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast::test {

/// A YAML mapping in the making, its values as text.
class Mapping {
 public:
  template <class T>
  void add(std::string_view key, const T& value) {
    entries_.emplace_back(key, fmt::format("{}", value));
  }
  void add(std::string_view key, const Mapping& value) {
    if (!value.entries_.empty()) entries_.emplace_back(key, value.flow());
  }
  void add(std::string_view key, bool value) { entries_.emplace_back(key, value ? "true" : "false"); }

  bool empty() const { return entries_.empty(); }

  /// "{a: 1, b: 2}"
  std::string flow() const {
    std::string text;
    for (const auto& [key, value] : entries_) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value);
    return '{' + text + '}';
  }
  /// A line for each key.
  std::string lines() const {
    std::string text;
    for (const auto& [key, value] : entries_) text += fmt::format("{}: {}\n", key, value);
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace stepcast::test
