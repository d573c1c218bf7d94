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

  /// Dimension by dimension from a place to another, round the ends where `up` says so: up(dimension, x, target) is
  /// whether to go up from x, step(dimension, up, at, next) is told every move.
  template <class Up, class Step>
  void walk(std::uint32_t from, std::uint32_t to, Up up, Step step) const {
    std::uint32_t place = from;
    for (std::uint32_t d = 0; d < dimensions(); ++d) {
      const std::uint32_t target = at(to, d), end = side(d);
      if (at(place, d) == target) continue;
      const bool goes_up = up(d, at(place, d), target);
      while (at(place, d) != target) {
        const std::uint32_t next = moved(place, d, (at(place, d) + (goes_up ? 1 : end - 1)) % end);
        step(d, goes_up, place, next);
        place = next;
      }
    }
  }

  /// Moves up, round the end, from x to `target`.
  std::uint32_t forward(std::uint32_t dimension, std::uint32_t x, std::uint32_t target) const {
    return (target + side(dimension) - x) % side(dimension);
  }

 private:
  std::uint32_t stride(std::uint32_t dimension) const;
  std::vector<std::uint32_t> sides_;
};

}  // namespace stepcast::topology
