#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "collectives/request.h"

namespace stepcast::collectives::test {

/// Every rank sends from a buffer of its own: rank r's elements are numbered from r * elements on.
inline bool own_buffers(const Request& request) {
  return request.operation == Operation::all_to_all || (request.operation == Operation::send_recv && request.ranks > 2);
}

/// Elements in consecutive cells. A transfer treats all elements between two ends of its ranges alike, so where no
/// range of a plan nor of the operation's definition ends inside a cell, running the plan on one element of each cell
/// is running it on all of them.
class Grain {
 public:
  /// Every element a cell.
  explicit Grain(const Request& request) : end_(total(request)) {}

  /// The largest cells that neither the plan nor the operation's definition tells apart.
  Grain(const Request& request, const CollectivePlan& plan) : end_(total(request)), cuts_{0, end_} {
    for (std::uint32_t c = 0; c < plan.chunks(); ++c) {
      for (const Range& range : plan.ranges(ChunkId{c})) cut(range);
    }
    const Messages messages(request);
    for (std::uint32_t a = 0; a < request.ranks; ++a) {
      if (!own_buffers(request)) cut(part(request.all(), request.ranks, a));
      if (own_buffers(request)) cut({a * request.elements, request.elements});
      for (std::uint32_t b = 0; b < request.ranks && request.operation == Operation::all_to_all; ++b) {
        cut(messages.of(a, b));
      }
    }
    std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  std::int64_t cells() const { return cell(end_); }
  /// The element that stands for a cell: its first.
  std::int64_t element(std::int64_t cell) const { return cuts_.empty() ? cell : cuts_[static_cast<std::size_t>(cell)]; }
  Range cells(Range range) const {
    const std::int64_t begin = cell(range.begin);
    return {begin, cell(range.begin + range.count) - begin};
  }

  /// The plan with cells for elements. Ranges past the last element stay past the last cell.
  CollectivePlan of(const CollectivePlan& plan) const {
    CollectivePlan result;
    result.ranks = plan.ranks;
    result.switches = plan.switches;
    result.pieces = plan.pieces;
    result.connections = plan.connections;
    std::vector<Range> ranges;
    for (std::uint32_t c = 0; c < plan.chunks(); ++c) {
      ranges.clear();
      for (const Range& range : plan.ranges(ChunkId{c})) ranges.push_back(cells(range));
      result.add_chunk(ranges);
    }
    for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
      result.add(plan.transfers[t], plan.after(TransferId{t}));
    }
    return result;
  }

 private:
  static std::int64_t total(const Request& request) {
    return request.elements * (own_buffers(request) ? request.ranks : 1);
  }
  void cut(Range range) {
    if (range.count == 0) return;
    cuts_.push_back(range.begin);
    cuts_.push_back(range.begin + range.count);
  }
  std::int64_t cell(std::int64_t element) const {
    return cuts_.empty() ? element : std::ranges::lower_bound(cuts_, element) - cuts_.begin();
  }

  std::int64_t end_ = 0;
  std::vector<std::int64_t> cuts_;  // where cells begin, and the end of the last; none: every element is one
};

}  // namespace stepcast::collectives::test
