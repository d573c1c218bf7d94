#pragma once

#include <cstddef>
#include <functional>

namespace stepcast::workload {

/// How large a program is once each of its communications is its transfers.
struct Lowered {
  std::size_t tasks = 0, transfers = 0;  ///< tasks in all; of these, transfers of communications
};

/// Is told of such a program before it runs, now and then while it does, and when it has: how many of its tasks have
/// ended.
using WatchLowered = std::function<void(const Lowered& program, std::size_t ended)>;

}  // namespace stepcast::workload
