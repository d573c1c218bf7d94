#pragma once

#include <algorithm>
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

/// Traffic inside a stage's layers, seen as each_link_load() says: that of the groups of every data rank which was
/// timed for itself, with all beside them. Those of two data ranks have groups in common; the larger of both is the
/// whole.
template <class See>
void each_inner_load(const StepInput& in, std::uint32_t stage, const See& see) {
  std::vector<const std::vector<PieceTimes::TimedPiece>*> timed;
  const std::uint32_t data_ranks = in.unfold ? in.ranks.stage_ranks() / in.ranks.plan().tensor : 1;
  for (std::uint32_t data = 0; data < data_ranks; ++data)
    if (const auto* kinds = in.pieces.timed_for({.data = data, .stage = stage})) timed.push_back(kinds);
  if (timed.empty()) return;
  std::map<std::uint32_t, std::uint32_t> blocks;  // of each kind
  for (const std::uint32_t place : places(in.chunks[stage])) ++blocks[in.blocks.order[place]];
  const double micro_batches_of_chunk = static_cast<double>(micro_batches(in.scenario)) / copies(in.pipeline->shape);
  for (const auto& [kind, count] : blocks) {
    const double times = micro_batches_of_chunk * count;
    if (timed.size() == 1) {
      for (const collectives::SharedTiming& timing : (*timed.front())[kind].traffic)
        for (const collectives::Timing::Load& load : timing->loads)
          see(load.link, load.occupied * times, LoadOf{.block = kind});
      continue;
    }
    std::map<topology::LinkId, double> most;
    for (const auto* kinds : timed) {
      std::map<topology::LinkId, double> all;
      for (const collectives::SharedTiming& timing : (*kinds)[kind].traffic)
        for (const collectives::Timing::Load& load : timing->loads) all[load.link] += load.occupied;
      for (const auto& [link, occupied] : all) most[link] = std::max(most[link], occupied);
    }
    for (const auto& [link, occupied] : most) see(link, occupied * times, LoadOf{.block = kind});
  }
}

/// Calls see(link, occupied, of) with what a step's traffic does to each link: `occupied` bytes that the link could
/// carry in the time for which the load occupies it, in one step. `more`: of copies. Where data ranks are alike,
/// traffic inside layers is that of the first one's groups, at each stage that was timed for itself: one whose nodes
/// hold it as an earlier stage's do loads links of its own as much as that one does.
template <class See>
void each_link_load(const StepInput& in, const Step& step, const workload::Flows& flows,
                    std::span<const collectives::Timing::Load> more, const See& see) {
  for (const auto& load : more) see(load.link, load.occupied, LoadOf{.copy = true});
  for (std::uint32_t stage = 0; stage < in.chunks.size(); ++stage) each_inner_load(in, stage, see);
  for (std::uint32_t i = 0; i < step.times.size(); ++i)
    flows.each_load(workload::CommunicationId{i}, [&](const auto& load) {
      see(load.link, load.occupied * step.times[i] / in.pipeline->steps,
          LoadOf{.communication = workload::CommunicationId{i}});
    });
}

}  // namespace stepcast::schedules
