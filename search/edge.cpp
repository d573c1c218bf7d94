#include "search/edge.h"

#include <algorithm>
#include <map>

namespace stepcast::search {
namespace {

/// Whether the plan there is the slower one.
bool is_slower(const EdgePoint& more, const EdgePoint& less) {
  if (!less.best) return false;
  return !more.best || more.best->forecast.step > less.best->forecast.step;
}

}  // namespace

TargetEdge find_edge(std::size_t values, EdgeWalk walk, const std::function<EdgePoint(std::size_t)>& at) {
  std::map<std::size_t, EdgePoint> tried;
  const auto met = [&](std::size_t place) {
    auto found = tried.find(place);
    if (found == tried.end()) found = tried.emplace(place, at(place)).first;
    return found->second.met;
  };
  if (walk == EdgeWalk::each) {
    for (std::size_t place = 0; place < values && !met(place); ++place) {
    }
  } else if (const bool best = met(values - 1), worst = met(0); best && !worst) {
    std::size_t fails = 0, meets = values - 1;
    while (meets - fails > 1) {
      const std::size_t middle = fails + (meets - fails) / 2;
      (met(middle) ? meets : fails) = middle;
    }
  }
  TargetEdge edge;
  for (auto& [place, point] : tried) edge.points.push_back(std::move(point));
  for (std::size_t i = 0; i < edge.points.size(); ++i) {
    if (!edge.least && edge.points[i].met) edge.least = i;
    if (i == 0) continue;
    const EdgePoint &more = edge.points[i], &less = edge.points[i - 1];
    if (is_slower(more, less) || (less.met && !more.met)) edge.monotone = false;
  }
  return edge;
}

}  // namespace stepcast::search
