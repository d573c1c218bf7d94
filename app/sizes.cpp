#include "app/sizes.h"

#include <algorithm>
#include <charconv>

#include "app/split.h"
#include "language/core/unit_meant.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;  // as of any size in a scenario

/// "8B", "64 KiB", or as nccl-tests takes them: "8", "64K", "8G".
Bytes size_named(const std::string& word) {
  const auto checked = [&](std::int64_t value) -> Bytes {
    if (value <= kMostBytes) return {value};
    throw InputError("--sizes", "found " + in_quotes(word) + ", expected at most 1000 TB");
  };
  if (const auto bytes = parse_bytes(word)) return checked(bytes->value);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(word.data() + word.size() - end));
  const int shift = rest.empty() ? 0 : rest == "K" ? 10 : rest == "M" ? 20 : rest == "G" ? 30 : -1;
  if (error == std::errc::result_out_of_range && shift >= 0) return checked(kMostBytes + 1);
  if (error == std::errc() && shift >= 0 && value >= 0) {
    return checked(value <= kMostBytes >> shift ? value << shift : kMostBytes + 1);
  }
  throw InputError("--sizes", "found " + in_quotes(word) + ", expected a size such as 8B, 64KiB, 1G" +
                                  language::unit_meant(language::Type::Kind::bytes, word));
}

}  // namespace

std::vector<Bytes> sizes_named(const std::string& words) {
  std::vector<Bytes> sizes;
  for (const std::string& range : split(words, ',')) {
    const std::vector<std::string> parts = split(range, ':');
    if (parts.size() > 3) throw InputError("--sizes", "found " + in_quotes(range) + ", expected FROM:TO:STEP");
    const Bytes from = size_named(parts.front()), to = size_named(parts[std::min<std::size_t>(parts.size() - 1, 1)]);
    std::int64_t factor = 2, step = 0;
    if (parts.size() == 3 && parts[2].starts_with('x')) {
      const char* last = parts[2].data() + parts[2].size();
      const auto [end, error] = std::from_chars(parts[2].data() + 1, last, factor);
      if (error != std::errc() || end != last || factor < 2 || factor > 1024) {
        throw InputError("--sizes", "found " + in_quotes(parts[2]) + ", expected x2 to x1024");
      }
    } else if (parts.size() == 3) {
      step = size_named(parts[2]).value;
      if (step == 0) throw InputError("--sizes", "found a step of 0, expected at least 1 B");
    }
    if (to < from) throw InputError("--sizes", "found " + in_quotes(range) + ", expected the smaller size first");
    if (from.value == 0 && to.value > 0 && step == 0) {
      throw InputError("--sizes", "found " + in_quotes(range) + ", expected a step: 0 times anything is 0");
    }
    for (std::int64_t at = from.value;;) {
      sizes.push_back({at});
      if (sizes.size() > kMostSizes) throw InputError("--sizes", "found more than 1000 sizes");
      if (step != 0 ? at > to.value - step : at > to.value / factor || at == to.value) break;
      at = step != 0 ? at + step : at * factor;
    }
  }
  return sizes;
}

}  // namespace stepcast::app
