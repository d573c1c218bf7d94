#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stepcast::app {

/// A line of a table of stages: neighbours from `first` to `last`.
struct StageLine {
  std::size_t first = 0, last = 0;
  bool differ = false;  ///< their cells do not all read the same
};

/// One stage's figures, and how its line reads.
struct StageCells {
  std::vector<double> figures;
  std::vector<std::string> cells;
};

/// Lines that hold every stage, `most` of them at most. Neighbours whose cells read the same share one; where more
/// lines are left, those whose mean figures are nearest to each other are joined, sum of differences by sum, until they
/// fit. Requires most > 0. O(stages^2).
std::vector<StageLine> stage_lines(const std::vector<StageCells>& stages, std::size_t most);

}  // namespace stepcast::app
