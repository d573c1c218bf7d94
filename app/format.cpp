#include "app/format.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

Format parse_format(const std::string& word, const std::vector<std::string>& allowed) {
  constexpr std::array<std::string_view, 4> names{"table", "json", "csv", "jsonl"};
  if (std::ranges::find(allowed, word) != allowed.end())
    return static_cast<Format>(std::ranges::find(names, word) - names.begin());
  const std::vector<std::string_view> views(allowed.begin(), allowed.end());
  throw InputError("--format", "found " + in_quotes(word) + ", expected " + language::one_of(word, views));
}

}  // namespace stepcast::app
