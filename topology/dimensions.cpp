#include "topology/dimensions.h"

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/text.h"

namespace stepcast::topology {

std::optional<std::vector<std::uint32_t>> read_sides(std::string_view text) {
  std::vector<std::uint32_t> sides;
  for (;;) {
    const auto cross = text.find('x');
    const auto length = parse_number(text.substr(0, cross));
    if (!length || *length == 0 || *length > 65536) return {};
    sides.push_back(*length);
    if (cross == std::string_view::npos) break;
    text.remove_prefix(cross + 1);
  }
  if (sides.size() < 2 || sides.size() > 3) return {};
  return sides;
}

std::vector<std::uint32_t> parse_sides(const std::string& text, const std::string& place) {
  const auto sides = read_sides(text);
  if (!sides)
    throw InputError(place,
                     "torus: found " + in_quotes(text) + ", expected two or three sides such as '16x16' or '4x4x8'");
  std::uint64_t size = 1;
  for (const std::uint32_t side : *sides) size *= side;
  if (size > 10'000'000) throw InputError(place, "torus: '" + text + "' is more than 10000000 places");
  return *sides;
}

std::uint32_t Grid::size() const { return stride(dimensions()); }

std::uint32_t Grid::stride(std::uint32_t dimension) const {
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < dimension; ++d) stride *= sides_[d];
  return stride;
}

std::uint32_t Grid::at(std::uint32_t place, std::uint32_t dimension) const {
  return place / stride(dimension) % sides_[dimension];
}

std::uint32_t Grid::moved(std::uint32_t place, std::uint32_t dimension, std::uint32_t to) const {
  return place - at(place, dimension) * stride(dimension) + to * stride(dimension);
}

std::string Grid::name(std::uint32_t place) const {
  std::string text;
  for (std::uint32_t d = 0; d < dimensions(); ++d) {
    if (d > 0) text += ',';
    text += std::to_string(at(place, d));
  }
  return text;
}

}  // namespace stepcast::topology
