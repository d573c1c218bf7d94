#pragma once

#include <span>

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
/// carry in the time for which the load occupies it, in one step. `more`: of copies. Of traffic inside layers the links
/// of the first stage's groups stand for all: every stage's carry about the same.
template <class See>
void each_link_load(const StepInput& in, const Step& step, const workload::Flows& flows,
                    std::span<const collectives::Timing::Load> more, const See& see) {
  for (const auto& load : more) see(load, load.occupied, LoadOf{.copy = true});
  const std::vector<PieceTimes::TimedPiece>& kinds = in.pieces.at({});
  for (const std::uint32_t place : places(in.chunks.front())) {
    const std::uint32_t kind = in.blocks.order[place];
    for (const collectives::SharedTiming& timing : kinds[kind].traffic)
      for (const collectives::Timing::Load& load : timing->loads)
        see(load, load.occupied * micro_batches(in.scenario) / copies(in.pipeline->shape), LoadOf{.block = kind});
  }
  for (std::uint32_t i = 0; i < step.times.size(); ++i)
    flows.each_load(workload::CommunicationId{i}, [&](const auto& load) {
      see(load, load.occupied * step.times[i] / in.pipeline->steps,
          LoadOf{.communication = workload::CommunicationId{i}});
    });
}

}  // namespace stepcast::schedules
