#include "schedules/pipeline/custom.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace stepcast::schedules {
namespace {

constexpr std::pair<std::string_view, PassKind> kKinds[] = {
    {"BW", PassKind::whole_backward}, {"F", PassKind::forward}, {"B", PassKind::backward}, {"W", PassKind::weight}};

std::optional<Pass> read_pass(std::string_view word) {
  for (const auto& [prefix, kind] : kKinds) {
    if (!word.starts_with(prefix)) continue;
    word.remove_prefix(prefix.size());
    std::uint32_t micro_batch = 0;
    const auto number = std::from_chars(word.data(), word.data() + word.size(), micro_batch);
    if (number.ec != std::errc{}) return std::nullopt;
    word.remove_prefix(static_cast<std::size_t>(number.ptr - word.data()));
    Pass pass{kind, MicroBatchId{micro_batch}};
    if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'z') {
      pass.virtual_stage = static_cast<std::uint32_t>(word[0] - 'a');
      word.remove_prefix(1);
    }
    return word.empty() ? std::optional(pass) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

CustomOrders read_orders(std::span<const std::string> stages) {
  constexpr std::string_view kSpace = " \t\n";
  CustomOrders read;
  for (const std::string& line : stages) {
    StageOrder& order = read.stages.emplace_back();
    std::string_view rest = line;
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
      if (rest.empty()) break;
      std::string_view words = rest.substr(0, rest.find_first_of(kSpace));
      rest.remove_prefix(words.size());
      while (!words.empty()) {
        const std::size_t end = words.find('&');
        const std::optional<Pass> pass = read_pass(words.substr(0, end));
        if (!pass) {
          read.problem = fmt::format(
              "stage {}: found '{}', expected F, B, W or BW, a micro-batch and, of several virtual stages, a letter: "
              "F0, "
              "B3, W2b",
              read.stages.size() - 1, words.substr(0, end));
          return read;
        }
        order.push_back(*pass);
        order.back().with_next = end != std::string_view::npos;
        read.splits_backward |= pass->kind == PassKind::weight || pass->kind == PassKind::whole_backward;
        words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
      }
    }
  }
  return read;
}

}  // namespace stepcast::schedules
