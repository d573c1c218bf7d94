#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/cost/pass.h"
#include "workload/program.h"

namespace stepcast::schedules {

/// The host of one lane, which launches its passes one after the other and runs ahead of the GPU, in the program that
/// is being written. The program holds the host only where it may hold the GPU up: from what passes take at least it is
/// known how far ahead the host is at least (its lead), and a pass that this lead covers costs no task. Behind a pass
/// in which the host waits for the GPU its lead is known, whatever it was. Source of the model:
/// models/cost/host_work.h.
class HostQueue {
 public:
  /// Launches that the driver keeps for a stream; the host waits to launch more. About 1,000, at 4 to 5 us each, were
  /// measured and reported in "CUDA stream are blocked when launch lots of kernels (>1000)", NVIDIA developer forum,
  /// thread 68937, 2018; 1,024 is assumed.
  static constexpr std::int64_t kDepth = 1024;

  /// `begins`: when the host may launch the first kernel.
  explicit HostQueue(Time begins = {}) : since_(begins) {}

  /// The lane's pass numbered `number`, whose kernels are the last task of the stream `compute` so far and end with
  /// `kernels`. Returns where the pass ends: there, or at a task behind it that the host holds up.
  sim::TaskId launch(workload::Program& program, sim::StreamId compute, const PassTime& pass, sim::TaskId kernels,
                     std::uint32_t number);
  /// More of that pass, at its end. Nothing but it has been added to `compute` since.
  sim::TaskId prolong(workload::Program& program, sim::StreamId compute, const PassTime& more);
  /// By how much `more` of the last pass would be held up wherever host and GPU came to it.
  Time holds_up(const PassTime& more) const { return held_up(last_->host, more.host); }
  /// When the host has launched all. Nothing: no later than the GPU has done it.
  std::optional<sim::TaskId> done(workload::Program& program);

  /// How many passes back the one is, at most, that a launch has waited for.
  std::uint32_t passes_back() const { return passes_back_; }

 private:
  /// A pass whose launches the driver may still keep.
  struct Queued {
    sim::TaskId end{};
    std::uint32_t number = 0;
    std::int64_t launches = 0;
    Time kernels{};  ///< what they take at least
  };
  /// The host starts no earlier than a pass has ended, and needs so long from there. Negative: it starts so much
  /// earlier.
  struct Gate {
    sim::TaskId after{};
    std::uint32_t number = 0;  ///< of that pass
    Time since{};
  };
  /// Where the host comes to its next launch: so much earlier than a task ends.
  struct Written {
    sim::TaskId launched{};
    Time earlier{};
  };

  /// The last pass is one of those that have been launched.
  void close();
  /// What the driver's queue makes the next launch wait for.
  void wait_for_queue();
  /// Writes down what the host does up to the first launch of the pass numbered `number`.
  Written written(workload::Program& program, std::uint32_t number);
  /// Holds the last pass's end up, where its launches may come too late.
  sim::TaskId hold_up(workload::Program& program, sim::StreamId compute);

  std::optional<sim::StreamId> stream_;  ///< of the host, where it has tasks
  std::vector<Queued> passes_;           ///< the driver may keep those from `first_` on
  std::size_t first_ = 0;
  std::int64_t queued_ = 0;  ///< launches of these
  Time kernels_queued_{};    ///< what they take at least
  Time lead_{};              ///< of the host, where it launches the last pass, at least
  Time since_{};             ///< what it has done until there that is not written down; negative as a gate's is
  std::optional<Gate> gate_, own_gate_;  ///< the last that cut its lead, and that of the last pass
  std::optional<PassTime> last_;
  std::uint32_t number_ = 0;          ///< of the last pass
  sim::TaskId end_{};                 ///< of the last pass
  std::optional<sim::TaskId> bound_;  ///< from its first launch to where it ends at the earliest
  std::uint32_t passes_back_ = 0;
};

}  // namespace stepcast::schedules
