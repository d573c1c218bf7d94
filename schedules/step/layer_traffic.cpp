#include "schedules/step/layer_traffic.h"

#include <algorithm>
#include <cmath>

#include "schedules/model/expert_load.h"
#include "schedules/parallel/inner_groups.h"

namespace stepcast::schedules {
namespace {

/// Every rank sends the others what their experts' loads ask for; `back`: the other way. Empty where all loads are
/// even.
collectives::Details uneven(const std::vector<double>& loads, bool back) {
  constexpr double kGrain = 1e6;  // of an even load
  collectives::Details details;
  if (std::ranges::all_of(loads, [](double load) { return load == 1; })) return details;
  for (std::size_t from = 0; from < loads.size(); ++from)
    for (std::size_t to = 0; to < loads.size(); ++to)
      details.pair_weights.push_back(std::llround(kGrain * loads[back ? from : to]));
  return details;
}

}  // namespace

LayerTraffic::LayerTraffic(const Scenario& s, const Ranks& ranks, Coordinate at) : scale_(s.traffic_scale.layers) {
  groups_[Among::tensor] = ranks.tensor_groups_beside(at);
  if (s.parallelism.context > 1) {
    groups_[Among::context] = context_groups_beside(ranks, at);
    groups_[Among::context_ring] = context_rings_beside(ranks, at);
  }
  if (s.parallelism.expert > 1) {
    groups_[Among::dispatch] = groups_[Among::combine] = expert_groups_beside(ranks, at);
    const std::vector<double> loads = rank_loads(s);
    dispatch_ = uneven(loads, false);
    combine_ = uneven(loads, true);
  }
}

collectives::Timing LayerTraffic::time(const TensorCollective& c, collectives::Timer& timer, bool fold) const {
  const collectives::Details none;
  const collectives::Details& details = c.among == Among::dispatch  ? dispatch_
                                        : c.among == Among::combine ? combine_
                                                                    : none;
  return scaled(timer.time(c.operation, c.bytes, groups_.at(c.among), "auto", fold, details), scale_);
}

}  // namespace stepcast::schedules
