#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/sweep/axis.h"
#include "language/core/given.h"

namespace stepcast::app {

/// Axes that step together; most are alone.
struct SweepDimension {
  std::vector<std::size_t> axes;  ///< by their places in the grid
  std::size_t size = 0;           ///< values of each
};

/// The points of a sweep: every value of each axis with every value of the others, but for axes that step together.
/// The last axis changes from point to point, the first one least often. Points are counted from 0.
class SweepGrid {
 public:
  /// `zips`: "KEY,KEY" of axes that step together, value by value; they stand where the first of them does. Throws
  /// InputError for a key of two axes, axes of unlike length that should step together, and more than 100 million
  /// points.
  SweepGrid(std::vector<SweepAxis> axes, std::span<const std::string> zips);

  const std::vector<SweepAxis>& axes() const { return axes_; }
  const std::vector<SweepDimension>& dimensions() const { return dimensions_; }
  std::size_t points() const { return points_; }

  /// Which value each dimension has at a point.
  std::vector<std::size_t> position(std::size_t point) const;
  /// Which value each axis has at a point.
  std::vector<std::size_t> values(std::size_t point) const;
  /// The keys of a point, as a layer takes them.
  std::vector<language::Given> keys(std::size_t point) const;

 private:
  std::size_t named(const std::string& key, const std::string& zip) const;

  std::vector<SweepAxis> axes_;
  std::vector<SweepDimension> dimensions_;
  std::size_t points_ = 1;
};

}  // namespace stepcast::app
