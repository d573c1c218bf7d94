#include "schedules/pass_times/layer_traffic.h"

#include <algorithm>
#include <cmath>

#include "models/layers/expert_load.h"
#include "schedules/parallel/expert_nodes.h"
#include "schedules/parallel/inner_groups.h"
#include "sim/whole_bytes.h"

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
  groups_[Among::tensor] = grid_rows_beside(ranks, at);
  if (const TensorGrid g = grid(s.parallelism); is_grid(g)) {
    groups_[Among::tensor_column] = grid_columns_beside(ranks, at);
    groups_[Among::tensor_depth] = grid_depths_beside(ranks, at);
  }
  const std::int64_t copies = is_network(s.model.family) ? 1 : kv_copies(s.model, grid(s.parallelism).columns);
  if (copies > 1) groups_[Among::kv_copies] = kv_copies_beside(ranks, at, copies);
  if (s.parallelism.context > 1) {
    ring_ = s.parallelism.context;
    groups_[Among::context] = context_groups_beside(ranks, at);
    groups_[Among::context_ring] = context_rings_beside(ranks, at);
  }
  if (s.parallelism.expert > 1) {
    groups_[Among::dispatch] = groups_[Among::combine] = expert_groups_beside(ranks, at);
    const std::vector<double> loads = rank_loads(s);
    dispatch_ = uneven(loads, false);
    combine_ = uneven(loads, true);
    if (s.training.expert_load.node_limit) {
      std::uint32_t nodes = 1;
      for (const collectives::Group& group : groups_[Among::dispatch]) {
        const std::vector<collectives::Group> parts = by_node(ranks, group), across = rails(parts);
        nodes = static_cast<std::uint32_t>(parts.size());
        if (inside_.empty()) {
          own_inside_ = nodes;
          own_rails_ = static_cast<std::uint32_t>(across.size());
        }
        inside_.insert(inside_.end(), parts.begin(), parts.end());
        rails_.insert(rails_.end(), across.begin(), across.end());
      }
      if (nodes == 1) rails_.clear();
      const Experts& experts = s.model.experts;
      copies_share_ = expected_nodes(nodes, experts.count / nodes, experts.active, *s.training.expert_load.node_limit) /
                      static_cast<double>(experts.active);
    }
  }
}

// Each node gets a token once, on the rail of the rank that has it, and forwards it to the experts' ranks as it comes:
// the two stages of a pipeline, of which the slower one counts and the other's first part. Back the other way round,
// results summed before they leave the node. DeepSeek-V3 (arXiv 2412.19437), sec. 3.2.2.
collectives::Timing LayerTraffic::by_way_of_nodes(Bytes bytes, const collectives::Timer& timer, bool fold) const {
  const Bytes copies = whole_bytes(static_cast<double>(bytes.value) * copies_share_);
  collectives::Timing across = timer.time(collectives::Operation::all_to_all, copies, rails_, "auto", fold);
  const collectives::Timing inside = timer.time(collectives::Operation::all_to_all, bytes, inside_, "auto", fold);
  across.duration = std::max(across.duration + inside.latency, inside.duration + across.latency);
  across.interval = std::max(across.interval, inside.interval);
  across.latency = across.latency + inside.latency;
  across.loads.insert(across.loads.end(), inside.loads.begin(), inside.loads.end());
  return across;
}

collectives::Timing LayerTraffic::time(const TensorCollective& c, const collectives::Timer& timer, bool fold) const {
  const bool to_experts = c.among == Among::dispatch || c.among == Among::combine;
  if (to_experts && !rails_.empty()) return scaled(by_way_of_nodes(c.bytes, timer, fold), scale_);
  const collectives::Details none;
  const collectives::Details& details = c.among == Among::dispatch  ? dispatch_
                                        : c.among == Among::combine ? combine_
                                                                    : none;
  return scaled(timer.time(c.operation, c.bytes, groups_.at(c.among), "auto", fold, details), scale_);
}

workload::Communication LayerTraffic::communication(const TensorCollective& c) const {
  const auto shared = [](const std::vector<collectives::Group>& groups) {
    return std::make_shared<const std::vector<collectives::Group>>(groups);
  };
  const bool to_experts = c.among == Among::dispatch || c.among == Among::combine;
  if (to_experts && !rails_.empty()) {
    const Bytes copies = whole_bytes(static_cast<double>(c.bytes.value) * copies_share_);
    return {
        {{.operation = c.operation, .bytes = copies, .groups = shared(rails_), .own = own_rails_, .scale = scale_},
         {.operation = c.operation, .bytes = c.bytes, .groups = shared(inside_), .own = own_inside_, .scale = scale_}},
        workload::Communication::Order::side_by_side};
  }
  workload::Collective one{.operation = c.operation,
                           .bytes = c.bytes,
                           .groups = shared(groups_.at(c.among)),
                           .own = c.among == Among::context_ring ? ring_ : 1,
                           .scale = scale_};
  if (c.among == Among::dispatch && !dispatch_.pair_weights.empty())
    one.details = std::make_shared<const collectives::Details>(dispatch_);
  if (c.among == Among::combine && !combine_.pair_weights.empty())
    one.details = std::make_shared<const collectives::Details>(combine_);
  return {{std::move(one)}};
}

}  // namespace stepcast::schedules
