#include "search/in_step.h"

#include <algorithm>
#include <array>

namespace stepcast::search {

using namespace schedules;

void InStep::find(const Scenario& s, const Plan& plan, const Ranks& ranks, const Traffic& traffic) {
  const Parallelism& p = s.parallelism;
  const auto takes_unlike_times = [&](const std::array<Declared, 2>& sends) {
    return times_.unlike(sends[0].communication) || times_.unlike(sends[1].communication);
  };
  if (p.tensor * p.context == 1 || p.pipeline == 1 || std::ranges::none_of(traffic.sends, takes_unlike_times)) return;
  const Blocks& blocks = *plan.staged.models.front();
  for (const std::vector<BlockRange>& chunks : plan.staged.chunks)
    for (const BlockRange& chunk : chunks) {
      bool layer = false;
      for (const std::uint32_t place : places({&chunk, 1})) layer = layer || blocks.at(place).layer;
      if (!layer) return;
    }
  together_.resize(ranks.count());
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) together_[rank] = ranks.coordinate(rank).data < p.context;
}

Time InStep::least(std::initializer_list<const Declared*> all) const {
  std::vector<workload::CommunicationId> ids;
  Time alone{};
  for (const Declared* each : all) {
    if (each == nullptr) continue;
    ids.push_back(each->communication);
    alone += times_.alone(each->communication);
  }
  return together_.empty() ? alone : times_.begun_together(ids, together_, capacities_);
}

}  // namespace stepcast::search
