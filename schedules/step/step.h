#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/offload/copies.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pass_times/chunks.h"
#include "schedules/pass_times/stragglers.h"
#include "schedules/pipeline/planned.h"
#include "schedules/results/results.h"
#include "sim/executor.h"
#include "workload/lowered.h"
#include "workload/machine.h"
#include "workload/program.h"

namespace stepcast::schedules {

/// What a task on a lane is; the first four as PassKind has them.
enum class Activity : std::uint8_t { forward, backward, weight, whole_backward, send, optimizer, compression };

/// One task of a lane's compute stream, with what its time is made of and what it may have waited for.
struct LaneTask {
  sim::TaskId task{}, last{};  ///< where it begins and ends: one, unless it is lowered with the traffic in it
  Activity activity{};
  std::uint32_t micro_batch = 0, virtual_stage = 0;
  Time compute{}, exposed_tensor{};          ///< alone; compute + exposed_tensor is its undisturbed duration
  std::optional<sim::TaskId> arrival, data;  ///< the send, and the data collective, that it comes after
  std::optional<Pass> beside{};              ///< the backward that runs together with this forward
  std::optional<sim::TaskId> arrival_beside{};
  Time exposed_copy{};                    ///< part of its undisturbed duration too
  Time exposed_host{};                    ///< likewise
  std::optional<sim::TaskId> kernels{};   ///< where its kernels end, if the host may hold up its end
  std::optional<sim::TaskId> launched{};  ///< what the host has done before it, which it waits for
  bool in_parts = false;  ///< traffic in it is simulated: it may take longer, or what hides beside kernels less
  bool data_is_parameters = false;  ///< `data` gathers parameters; else it sums gradients
  bool beside_data = false;         ///< gradients or parameters may be on their way meanwhile
};

/// Traffic of a lane that runs beside compute, for the trace.
struct LaneTraffic {
  sim::TaskId task{};
  std::uint32_t stream = 0;  ///< index into kLaneStreams
  std::string_view name;
  std::uint32_t number = 0;
};

inline constexpr std::string_view kLaneStreams[] = {"compute", "pipeline", "data", "parameters"};

/// Where a pass begins: what is made from here on, of the whole program and of the lane, is the pass's own and its
/// traffic's. Of two passes that run together both begin here.
struct PassBegin {
  std::uint32_t task = 0, lane_task = 0;
};

/// One simulated rank: with folding one per pipeline stage, without it every rank.
struct Lane {
  Coordinate at;
  std::vector<LaneTask> tasks;
  std::vector<PassBegin> passes;  ///< as the stage's order has them, and the end of the last
  std::uint32_t passes_back = 0;  ///< at most: which pass's end the host waits for before it launches one
  std::size_t flushes = 0;        ///< of its passes, the first that makes the last gradients of a chunk
  std::vector<LaneTraffic> traffic;
  std::vector<sim::TaskId> after_compute;  ///< traffic that follows the last compute: updated parameters
  /// The tasks of the step that is measured, from after the first to the last, where the pipeline never drains.
  std::optional<std::size_t> before_step{}, end_of_step{};
  Time begins{};  ///< the step, where it drains

  /// Reports and traces show one rank of each stage.
  bool speaks_for_its_stage() const { return at.tensor == 0 && at.data == 0; }
};

/// A whole step as a program, and what its tasks mean.
struct Step {
  workload::Program program;
  std::vector<Lane> lanes;
  /// By CommunicationId, but for those inside layers, which are the last: how often it runs, mean over the steps of a
  /// round.
  std::vector<double> times;
};

/// What data ranks tell each other in a step.
enum class Exchange : std::uint8_t {
  gradients,   ///< as data_parallel says
  nothing,     ///< each goes on by itself
  parameters,  ///< after the update, their mean: the last of data_parallel.local_steps
};

/// Everything a step is built from.
struct StepInput {
  const Scenario& scenario;
  const workload::Machine& machine;
  const Ranks& ranks;
  const Blocks& blocks;
  const PlannedPipeline* pipeline;
  const std::vector<std::vector<BlockRange>>& chunks;  ///< per stage and virtual stage
  PieceTimes& pieces;
  bool unfold = false;
  bool trace = false;  ///< simulate all micro-batches, and remember each lane's traffic
  /// All traffic as its transfers, that inside layers too. Requires unfold and pieces in parts.
  bool transfers = false;
  /// Of groups that do the same at the same time and take unlike times, all take that of the first to end, not the
  /// last.
  bool first_siblings = false;
  const Stragglers* stragglers = nullptr;  ///< none: every GPU is as fast as it should be
  const HostCopies* copies = nullptr;      ///< none: nothing is offloaded
  Exchange exchange = Exchange::gradients;
  std::vector<Time> begins{};                     ///< when each data rank begins; empty: all at once
  const workload::WatchLowered* watch = nullptr;  ///< of what is lowered to its transfers; none: nobody
  bool record = false;                            ///< remember which rank each task is of, and the communications
};

}  // namespace stepcast::schedules
