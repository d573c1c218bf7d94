#include "app/format.h"

#include <array>
#include <string_view>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

Format parse_format(const std::string& word) {
  constexpr std::array<std::string_view, 3> names{"table", "json", "csv"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<Format>(i);
  throw InputError("--format", "found " + in_quotes(word) + ", expected " + language::one_of(word, names));
}

}  // namespace stepcast::app
