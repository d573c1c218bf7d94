#include <array>
#include <cmath>
#include <vector>

#include "collectives/algorithm.h"
#include "collectives/algorithms/offsets.h"

namespace stepcast::collectives {
namespace {

enum Axis : std::uint8_t { along_row, along_column };

Axis other(Axis dimension) { return dimension == along_row ? along_column : along_row; }

struct RankGrid {
  std::uint32_t width = 1, height = 1;  ///< rank = y * width + x

  std::uint32_t size(Axis dimension) const { return dimension == along_row ? width : height; }
  std::uint32_t at(std::uint32_t rank, Axis dimension) const {
    return dimension == along_row ? rank % width : rank / width;
  }
  /// So many ranks lie between neighbours.
  std::uint32_t stride(Axis dimension) const { return dimension == along_row ? 1 : width; }
};

/// The machine's, where it is a torus; else GPUs of a node by nodes, or inside one node the squarest grid there is.
RankGrid grid(const Request& request) {
  if (request.nodes > 1) return {request.gpus(), request.nodes};
  std::uint32_t width = request.row;
  if (width == 0) width = static_cast<std::uint32_t>(std::sqrt(request.ranks));
  while (request.ranks % width != 0) --width;
  return {width, request.ranks / width};
}

/// One quarter of every block, a block being what one rank reduces or has at first. It goes round rings of one
/// direction: along `first` whole lines of blocks, all those that differ in the other dimension alone; along the other
/// one block.
class Quarter {
 public:
  Quarter(const Request& request, std::uint32_t number, CollectivePlan& plan)
      : grid_(grid(request)),
        offsets_(request, grid_.width),
        backwards_(number / 2 == 1),
        first_(number % 2 == 0 ? along_row : along_column),
        plan_(plan) {
    std::vector<std::vector<Range>> lines(grid_.size(first_));
    for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
      const Range mine = part(part(request.all(), request.ranks, rank), 4, number);
      blocks_.push_back(plan.add_chunk(mine));
      lines[grid_.at(rank, first_)].push_back(mine);
    }
    for (const std::vector<Range>& line : lines) lines_.push_back(plan.add_chunk(line));
    for (const Axis dimension : {along_row, along_column}) {
      for (std::uint32_t lane = 0; lane < offsets_.lanes() && grid_.size(dimension) > 1; ++lane) {
        const std::uint32_t source = offsets_.source(lane);
        ways_[dimension].push_back(plan.connect(source, step(source, dimension, 1, backwards_), number));
      }
    }
    came_.resize(offsets_.lanes());
  }

  /// Lines of blocks are summed, then blocks of the line that is the rank's own.
  void reduce_scatter() {
    walk(first_, Effect::reduce, 1);
    walk(other(first_), Effect::reduce, 1);
  }
  void all_gather() {
    walk(other(first_), Effect::copy, 0);
    walk(first_, Effect::copy, 0);
  }

 private:
  std::uint32_t step(std::uint32_t rank, Axis dimension, std::uint32_t steps, bool back) const {
    const std::uint32_t offset = steps % grid_.size(dimension) * grid_.stride(dimension);
    return back ? offsets_.before(rank, offset) : offsets_.after(rank, offset);
  }

  /// In step s a rank passes on what the rank `s + behind` places behind it had at first or reduces. What came in last
  /// is what it waits for: all else it has is older than its first transfer on this connection.
  void walk(Axis dimension, Effect effect, std::uint32_t behind) {
    const std::uint32_t size = grid_.size(dimension);
    std::vector<TransferId> sent(offsets_.lanes());
    for (std::uint32_t s = 0; s + 1 < size; ++s) {
      for (std::uint32_t lane = 0; lane < sent.size(); ++lane) {
        const std::uint32_t home = step(offsets_.source(lane), dimension, s + behind, !backwards_);
        const ChunkId chunk = dimension == first_ ? lines_[grid_.at(home, first_)] : blocks_[home];
        const Transfer transfer{ways_[dimension][lane], chunk, effect};
        sent[lane] = any_came_ ? plan_.add(transfer, {came_[lane]}) : plan_.add(transfer);
      }
      for (std::uint32_t lane = 0; lane < sent.size(); ++lane) {
        came_[lane] = sent[offsets_.lane(step(offsets_.source(lane), dimension, 1, !backwards_))];
      }
      any_came_ = true;
    }
  }

  RankGrid grid_;
  Offsets offsets_;
  bool backwards_;
  Axis first_;
  CollectivePlan& plan_;
  std::vector<ChunkId> blocks_, lines_;            // by rank; by place along `first_`
  std::array<std::vector<ConnectionId>, 2> ways_;  // by dimension and lane: to the next rank
  std::vector<TransferId> came_;                   // by lane: what came in last
  bool any_came_ = false;
};

/// A quarter of the data each: rows first or columns first, rings forwards or backwards. All links of a torus work at
/// once.
CollectivePlan plan_torus(const Request& request) {
  CollectivePlan plan;
  plan.ranks = request.ranks;
  for (std::uint32_t number = 0; number < 4; ++number) {
    Quarter quarter(request, number, plan);
    if (request.operation != Operation::all_gather) quarter.reduce_scatter();
    if (request.operation != Operation::reduce_scatter) quarter.all_gather();
  }
  return plan;
}

bool supports_torus(const Request& request) {
  const bool operation = request.operation == Operation::all_reduce || request.operation == Operation::all_gather ||
                         request.operation == Operation::reduce_scatter;
  return operation && request.ranks >= 4 && grid(request).width >= 2;
}

/// Moving all ranks along rows or columns.
Symmetry symmetry_of_torus(const Request& request) {
  const std::uint32_t width = grid(request).width;
  return {.period = width, .rotate = true, .row = width};
}

}  // namespace

extern const Algorithm torus_2d;
constinit const Algorithm torus_2d{
    .name = "torus-2d",
    .summary = "ranks as a grid: rings along one dimension, then along the other; all four directions at once",
    .source =
        "Mikami et al., arXiv 1811.05233, section 2.2 (2D-torus); both dimensions and directions at once as "
        "Jain and Sabharwal, ICS 2010",
    .automatic = [](const Request& request) { return request.row != 0; },
    .supports = supports_torus,
    .plan = plan_torus,
    .symmetry = symmetry_of_torus};

}  // namespace stepcast::collectives
