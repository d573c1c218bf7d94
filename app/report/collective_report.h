#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/report/spread.h"
#include "collectives/timing/timer.h"
#include "sim/units.h"
#include "topology/cluster.h"

namespace stepcast::app {

/// One size by one algorithm.
struct CollectiveResult {
  std::string algorithm, protocol;
  Bytes size{};
  Time time{};                     ///< launch to last byte; beside a log per repetition, as nccl-tests has it
  std::optional<Time> measured{};  ///< what a log says
  std::optional<Time> in_place{}, measured_in_place{};  ///< likewise in place, where the log has such a column
  std::optional<HashingSpread> over{};  ///< over hashings of the fabric, in seconds; `time` then is its median
};

struct CollectiveReport {
  collectives::Operation operation = collectives::Operation::all_reduce;
  std::uint32_t ranks = 0;
  std::vector<CollectiveResult> rows{};  ///< by size; of one size in the order of the algorithms
  std::string log{};                     ///< the file that was compared with, if any
  std::string software{};                ///< the stack
  std::uint32_t hashings = 0;            ///< of the fabric, that were tried; 0: its own alone
  std::vector<std::string> notes{};      ///< what was assumed where nobody said it
};

/// Bytes per second that nccl-tests calls algbw and busbw: size / time, and that times 2 (n - 1) / n for all_reduce,
/// (n - 1) / n where every rank has a part, 1 for broadcast, reduce and send_recv. In GB/s (1e9).
/// Source: nccl-tests, doc/PERFORMANCE.md; gather.cu and scatter.cu.
double algbw_GBps(const CollectiveResult& row);
double busbw_GBps(const CollectiveReport& report, const CollectiveResult& row);

/// One algorithm in nccl-tests' columns; several side by side with the fastest of each size; with measured times, these
/// beside the predicted ones.
std::string collective_table(const CollectiveReport& report);
std::string collective_json(const CollectiveReport& report);
std::string collective_csv(const CollectiveReport& report);

/// busbw over size, a curve for each algorithm (and one for the log), as an SVG page.
std::string collective_svg(const CollectiveReport& report);

/// Where the time goes: the link that is busiest for its rate, how busy each kind of link is, and those that carry
/// nothing.
std::string explain(const collectives::Timing& timing, Bytes size, const topology::Cluster& cluster);

}  // namespace stepcast::app
