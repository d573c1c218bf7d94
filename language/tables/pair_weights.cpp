#include "language/tables/pair_weights.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string_view>

#include "language/core/file_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {

std::vector<std::int64_t> read_pair_weights(const std::string& file) {
  const std::string shown = shown_path(file), text = read_file(file, shown);
  std::istringstream lines{std::string(checked_text(text, shown))};
  std::vector<std::int64_t> weights;
  std::size_t columns = 0, rows = 0, number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    const std::size_t before = weights.size();
    constexpr std::string_view between = ", \t\r";
    for (std::size_t at = line.find_first_not_of(between); at != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_of(between, at), line.size());
      const std::string_view word(line.data() + at, end - at);
      std::int64_t value = 0;
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || stop != word.data() + word.size() || value < 0 || value > INT32_MAX) {
        throw InputError(fmt::format("{}:{}:{}", shown, number, at + 1),
                         "found " + in_quotes(word) + ", expected a whole number from 0 to 2147483647");
      }
      weights.push_back(value);
      at = line.find_first_not_of(between, end);
    }
    if (weights.size() == before) continue;
    if (rows++ == 0) columns = weights.size();
    if (weights.size() - before != columns) {
      throw InputError(
          fmt::format("{}:{}", shown, number),
          fmt::format("found {} numbers, expected {} as in the first row", weights.size() - before, columns));
    }
  }
  if (rows != columns || rows == 0) {
    throw InputError(
        shown, fmt::format("found {} rows of {} numbers, expected a row and a column for each rank", rows, columns));
  }
  return weights;
}

}  // namespace stepcast::language
