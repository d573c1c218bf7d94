#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::topology {

/// "16x16", "4x4x8": two or three whole numbers of 1 to 65536. Nothing for any other text.
std::optional<std::vector<std::uint32_t>> read_sides(std::string_view text);

/// Sides of a torus or a mesh. Throws InputError(place, "torus:
/// found ...") for anything else.
std::vector<std::uint32_t> parse_sides(const std::string& text, const std::string& place);

/// A grid whose places are numbered along the first side first.
class Grid {
 public:
  explicit Grid(std::vector<std::uint32_t> sides) : sides_(std::move(sides)) {}

  std::uint32_t size() const;
  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(sides_.size()); }
  std::uint32_t side(std::uint32_t dimension) const { return sides_[dimension]; }
  std::uint32_t at(std::uint32_t place, std::uint32_t dimension) const;
  /// The place with one coordinate replaced.
  std::uint32_t moved(std::uint32_t place, std::uint32_t dimension, std::uint32_t to) const;
  /// "2,0,1"
  std::string name(std::uint32_t place) const;

 private:
  std::uint32_t stride(std::uint32_t dimension) const;
  std::vector<std::uint32_t> sides_;
};

}  // namespace stepcast::topology
