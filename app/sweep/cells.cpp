#include "app/sweep/cells.h"

#include <charconv>

namespace stepcast::app {

std::optional<double> number_in(const std::string& cell) {
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (cell.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace stepcast::app
