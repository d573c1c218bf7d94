#include "collectives/algorithms/merge.h"

#include <algorithm>

namespace stepcast::collectives {

void append(CollectivePlan& to, const CollectivePlan& from, std::int64_t offset) {
  std::uint32_t channels = 0;
  for (const Connection& way : to.connections) channels = std::max(channels, way.channel + 1);
  const auto first_connection = static_cast<std::uint32_t>(to.connections.size());
  const auto first_transfer = static_cast<std::uint32_t>(to.transfers.size());
  const auto first_chunk = static_cast<std::uint32_t>(to.chunks());
  for (Connection way : from.connections) {
    way.channel += channels;
    to.connections.push_back(way);
  }
  std::vector<Range> ranges;
  for (std::uint32_t chunk = 0; chunk < from.chunks(); ++chunk) {
    ranges.clear();
    for (const Range& range : from.ranges(ChunkId{chunk})) ranges.push_back({range.begin + offset, range.count});
    to.add_chunk(ranges);
  }
  std::vector<TransferId> after;
  for (std::uint32_t t = 0; t < from.transfers.size(); ++t) {
    after.clear();
    for (const TransferId earlier : from.after(TransferId{t}))
      after.push_back(TransferId{index(earlier) + first_transfer});
    const Transfer& transfer = from.transfers[t];
    to.add({ConnectionId{index(transfer.connection) + first_connection}, ChunkId{index(transfer.chunk) + first_chunk},
            transfer.effect},
           after);
  }
}

}  // namespace stepcast::collectives
