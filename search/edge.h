#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "search/search.h"

namespace stepcast::search {

/// One of the values that a target was tried with.
struct EdgePoint {
  std::size_t place = 0;            ///< among the values, the least first
  std::optional<FoundPlan> best{};  ///< the fastest plan there; nothing: none fits
  bool met = false;                 ///< whether that plan meets the target
};

/// The least value that meets a target, between those that show that it is.
struct TargetEdge {
  std::vector<EdgePoint> points;       ///< those that were tried, the least first
  std::optional<std::size_t> least{};  ///< of these the first that meets it; nothing: none does
  /// Whether of the values that were tried none has a slower plan than a lesser one. Else a value that was not tried
  /// and is less may meet the target too.
  bool monotone = true;
};

/// How the values are gone through: every one from the least on until one meets the target; or by halves, from both
/// ends, until the one that meets it and the next lesser one that does not are known.
enum class EdgeWalk : char { each, halves };

/// Requires values > 0. `at`: tries one. By halves at most 2 + log2(values) are tried.
TargetEdge find_edge(std::size_t values, EdgeWalk walk, const std::function<EdgePoint(std::size_t place)>& at);

}  // namespace stepcast::search
