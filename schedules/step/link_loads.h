#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "schedules/pipeline/placement.h"
#include "schedules/step/step.h"
#include "workload/flows.h"

namespace stepcast::schedules {

/// Whose traffic a load is of.
struct LoadOf {
  std::optional<workload::CommunicationId> communication{};  ///< none: inside layers, or `copy`
  std::uint32_t block = 0;                                   ///< else its kind: a place in Blocks::kinds
  bool copy = false;                                         ///< between GPUs and hosts
};

/// Calls see(load, occupied, of) with what a step's traffic does to each link: `occupied` bytes that the link could
/// carry in the time for which the load occupies it, in one step. `more`: of copies. Traffic inside layers is that of
/// the first data rank's groups, with all beside them, at each stage that was timed for itself: one whose nodes hold it
/// as an earlier stage's do loads links of its own as much as that one does.
template <class See>
void each_link_load(const StepInput& in, const Step& step, const workload::Flows& flows,
                    std::span<const collectives::Timing::Load> more, const See& see) {
  for (const auto& load : more) see(load, load.occupied, LoadOf{.copy = true});
  const double micro_batches_of_chunk = static_cast<double>(micro_batches(in.scenario)) / copies(in.pipeline->shape);
  for (std::uint32_t stage = 0; stage < in.chunks.size(); ++stage) {
    const std::vector<PieceTimes::TimedPiece>* kinds = in.pieces.timed_for({.stage = stage});
    if (kinds == nullptr) continue;
    std::map<std::uint32_t, std::uint32_t> blocks;  // of each kind
    for (const std::uint32_t place : places(in.chunks[stage])) ++blocks[in.blocks.order[place]];
    for (const auto& [kind, count] : blocks)
      for (const collectives::SharedTiming& timing : (*kinds)[kind].traffic)
        for (const collectives::Timing::Load& load : timing->loads)
          see(load, load.occupied * (micro_batches_of_chunk * count), LoadOf{.block = kind});
  }
  for (std::uint32_t i = 0; i < step.times.size(); ++i)
    flows.each_load(workload::CommunicationId{i}, [&](const auto& load) {
      see(load, load.occupied * step.times[i] / in.pipeline->steps,
          LoadOf{.communication = workload::CommunicationId{i}});
    });
}

}  // namespace stepcast::schedules
