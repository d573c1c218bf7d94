#include <cmath>
#include <numeric>

#include "collectives/algorithm.h"
#include "collectives/merge.h"

namespace stepcast::collectives {

extern const Algorithm hierarchical;

namespace {

struct Grid {
  std::uint32_t width = 1, height = 1;  ///< rank = y * width + x
};

/// GPUs of a node by nodes; inside one node the squarest grid there is.
Grid grid(const Request& request) {
  if (request.nodes > 1) return {request.gpus(), request.nodes};
  auto width = static_cast<std::uint32_t>(std::sqrt(request.ranks));
  while (request.ranks % width != 0) --width;
  return {width, request.ranks / width};
}

/// A quarter of the data each: rows first or columns first, rings forwards or backwards. A quarter is reduce-scattered
/// along its first dimension, all-reduced along the other, and all-gathered along the first again. All links of a torus
/// work at once.
Plan plan_torus(const Request& request) {
  const auto [width, height] = grid(request);
  Plan plan;
  plan.ranks = request.ranks;
  std::vector<std::uint32_t> rank_of(request.ranks);
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    const bool columns_first = quarter % 2 == 1, backwards = quarter / 2 == 1;
    const std::uint32_t first = columns_first ? height : width, second = request.ranks / first;
    for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
      std::uint32_t along = rank % first, across = rank / first;
      if (backwards) along = (first - along) % first, across = (second - across) % second;
      rank_of[rank] = columns_first ? along * width + across : across * width + along;
    }
    const Range mine = part(request.all(), 4, quarter);
    append(plan,
           hierarchical.plan(
               {.operation = Operation::all_reduce, .ranks = request.ranks, .elements = mine.count, .nodes = second}),
           rank_of, mine.begin);
  }
  return plan;
}

}  // namespace

extern const Algorithm torus_2d;
constinit const Algorithm torus_2d{
    .name = "torus-2d",
    .summary = "ranks as a grid: reduce-scatter along one dimension, all-reduce along the other, all-gather back",
    .source =
        "Mikami et al., arXiv 1811.05233, section 2.2 (2D-torus); both dimensions and directions at once as "
        "Jain and Sabharwal, ICS 2010",
    .automatic = [](Operation) { return false; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.ranks >= 4 && grid(request).width >= 2;
        },
    .plan = plan_torus,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
