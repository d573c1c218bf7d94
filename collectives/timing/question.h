#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/operation.h"
#include "sim/units.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// The GPUs of one communicator, in rank order.
using Group = std::vector<topology::GpuId>;

/// What an operation may be told beside its size.
struct Details {
  /// Parameter servers that do not work: the last so many ranks. 0: "sharded-parameter-server" makes every rank one.
  std::uint32_t servers = 0;
  /// all_to_all of uneven sizes: what rank s sends rank d goes as pair_weights[s * ranks + d], none negative, and the
  /// rank with the most to send (below 2^31) has `bytes`. Empty: even.
  std::vector<std::int64_t> pair_weights{};
  /// The answer is that of the first so many of the concurrent groups alone, while all run: when they have ended, and
  /// their loads. 0: of all together. Not with fold.
  std::uint32_t own = 0;
  friend auto operator<=>(const Details&, const Details&) = default;
};

/// What of a collective is simulated.
enum class Extent : std::uint8_t {
  folded,  ///< of ranks that do the same at the same time one
  whole,   ///< all ranks
  slowed,  ///< all ranks, on links as slow as they are (topology::Cluster::link_speed); the others take them as whole
};

/// What Timer::time is asked, word for word.
struct TimerQuestion {
  Operation operation{};
  Bytes bytes{};
  std::span<const Group> concurrent{};
  std::string_view algorithm{};
  bool fold = true;
  const Details& details;
};

}  // namespace stepcast::collectives
