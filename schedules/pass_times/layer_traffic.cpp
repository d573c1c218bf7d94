#include "schedules/pass_times/layer_traffic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/layers/expert_load.h"
#include "schedules/parallel/expert_nodes.h"
#include "schedules/parallel/inner_groups.h"
#include "sim/whole_bytes.h"
#include "workload/least_timing.h"
#include "workload/own_algorithm.h"

namespace stepcast::schedules {
namespace {

using collectives::SharedTiming;
using Groups = std::vector<collectives::Group>;

std::shared_ptr<const Groups> shared(Groups groups) { return std::make_shared<const Groups>(std::move(groups)); }

/// Every rank sends the others what their experts' loads ask for; `back`: the other way.
collectives::Details uneven(const std::vector<double>& loads, bool back) {
  constexpr double kGrain = 1e6;  // of an even load
  collectives::Details details;
  for (std::size_t from = 0; from < loads.size(); ++from)
    for (std::size_t to = 0; to < loads.size(); ++to)
      details.pair_weights.push_back(std::llround(kGrain * loads[back ? from : to]));
  return details;
}

}  // namespace

LayerTraffic::LayerTraffic(const Scenario& s, const Ranks& ranks, Coordinate at) : scale_(s.traffic_scale.layers) {
  groups_[Among::tensor] = shared(grid_rows_beside(ranks, at));
  const auto of_tensor = static_cast<std::int64_t>(by_node(ranks, groups_[Among::tensor]->front()).size());
  tensor_delay_ = s.software.tensor_delay * (of_tensor - 1);
  if (const TensorGrid g = grid(s.parallelism); is_grid(g)) {
    groups_[Among::tensor_column] = shared(grid_columns_beside(ranks, at));
    groups_[Among::tensor_depth] = shared(grid_depths_beside(ranks, at));
  }
  const std::int64_t copies = is_network(s.model.family) ? 1 : kv_copies(s.model, grid(s.parallelism).columns);
  if (copies > 1) groups_[Among::kv_copies] = shared(kv_copies_beside(ranks, at, copies));
  if (s.parallelism.context > 1) {
    ring_ = s.parallelism.context;
    groups_[Among::context] = shared(context_groups_beside(ranks, at));
    groups_[Among::context_ring] = shared(context_rings_beside(ranks, at));
  }
  if (s.parallelism.expert_tensor > 1) groups_[Among::expert_tensor] = shared(expert_tensor_groups_beside(ranks, at));
  if (s.parallelism.expert == 1) return;
  groups_[Among::dispatch] = groups_[Among::combine] = shared(expert_groups_beside(ranks, at));
  const std::vector<double> loads = rank_loads(s);
  if (!std::ranges::all_of(loads, [](double load) { return load == 1; })) {
    uneven_[Among::dispatch] = std::make_shared<const collectives::Details>(uneven(loads, false));
    uneven_[Among::combine] = std::make_shared<const collectives::Details>(uneven(loads, true));
  }
  const ExpertLoad& load = s.training.expert_load;
  const bool even = !load.capacity && load.spread == 0 && s.parallelism.expert_tensor == 1;
  if (!load.node_limit && !(s.software.copies_by_node && even)) return;
  std::uint32_t nodes = 1;
  Groups inside, rails_of_all;
  for (const collectives::Group& group : *groups_[Among::dispatch]) {
    const Groups parts = by_node(ranks, group);
    // Where nodes have unlike numbers of a group's ranks a limit is refused (check.cpp), and copies go one by one.
    if (std::ranges::any_of(parts, [&](const auto& part) { return part.size() != parts.front().size(); })) return;
    const Groups across = rails(parts);
    nodes = static_cast<std::uint32_t>(parts.size());
    if (inside.empty()) {
      own_inside_ = nodes;
      own_rails_ = static_cast<std::uint32_t>(across.size());
    }
    inside.insert(inside.end(), parts.begin(), parts.end());
    rails_of_all.insert(rails_of_all.end(), across.begin(), across.end());
  }
  if (nodes == 1) return;
  inside_ = shared(std::move(inside));
  rails_ = shared(std::move(rails_of_all));
  const Experts& experts = s.model.experts;
  copies_share_ = expected_nodes(nodes, experts.count / nodes, experts.active, load.node_limit.value_or(nodes)) /
                  static_cast<double>(experts.active);
}

bool LayerTraffic::by_way_of_nodes(const TensorCollective& c) const {
  return rails_ && (c.among == Among::dispatch || c.among == Among::combine);
}

Bytes LayerTraffic::copies(const TensorCollective& c) const {
  return whole_bytes(static_cast<double>(c.bytes.value) * copies_share_);
}

SharedTiming LayerTraffic::made_of(const TensorCollective& c, const topology::Cluster& cluster,
                                   const TimingOf& timing_of) const {
  const workload::Communication all = communication(c);
  const SharedTiming first = timing_of(all.collectives.front());
  if (!by_way_of_nodes(c) && scale_ == 1 && all.delay == Time{}) return first;
  collectives::Timing timing =
      by_way_of_nodes(c) ? passed_on(*first, *timing_of(all.collectives.back()), cluster) : collectives::Timing(*first);
  timing = scaled(std::move(timing), scale_);
  for (Time* part : {&timing.duration, &timing.latency, &timing.still, &timing.before, &timing.interval})
    *part = *part + all.delay;
  return std::make_shared<const collectives::Timing>(std::move(timing));
}

SharedTiming LayerTraffic::time(const TensorCollective& c, const collectives::Timer& timer, bool fold) const {
  return made_of(c, timer.cluster(), [&](const workload::Collective& part) {
    collectives::Details details = part.details ? *part.details : collectives::Details{};
    const collectives::Timing& timing =
        timer.time(part.operation, part.bytes, *part.groups, part.algorithm, fold, details);
    if (fold || timing.alike()) return SharedTiming(SharedTiming{}, &timing);  // the timer keeps it
    // The links carry what all groups send, but each takes its own time.
    details.own = part.own;
    const std::string algorithm = own_algorithm(part, timer);
    const collectives::Timing& of_own = timer.time(part.operation, part.bytes, *part.groups, algorithm, false, details);
    auto own = std::make_shared<collectives::Timing>(algorithm == part.algorithm ? timing : of_own);
    own->duration = of_own.duration;
    own->loads = timing.loads;
    if (std::vector<collectives::Timing::Load> loads = loads_of_unlike(part, timer); !loads.empty())
      own->loads = std::move(loads);
    return SharedTiming(std::move(own));
  });
}

SharedTiming LayerTraffic::least_time(const TensorCollective& c, const collectives::Timer& timer, bool late) const {
  return made_of(c, timer.cluster(), [&](const workload::Collective& part) {
    return std::make_shared<const collectives::Timing>(workload::least_timing(part, timer, late));
  });
}

SharedTiming LayerTraffic::bound(const TensorCollective& c, const collectives::Timer& timer) const {
  return made_of(c, timer.cluster(), [&](const workload::Collective& part) {
    const collectives::Details details = part.details ? *part.details : collectives::Details{};
    const Time least = timer.least(part.operation, part.bytes, *part.groups, part.algorithm, details);
    collectives::Timing timing{};
    timing.duration = timing.still = least;
    return std::make_shared<const collectives::Timing>(std::move(timing));
  });
}

workload::Communication LayerTraffic::communication(const TensorCollective& c) const {
  // Each node gets a token once, on the rail of the rank that has it, and forwards it to the experts' ranks as it
  // comes. Back the other way round, results summed before they leave the node. DeepSeek-V3 (arXiv 2412.19437), sec.
  // 3.2.2.
  if (by_way_of_nodes(c))
    return {{{.operation = c.operation, .bytes = copies(c), .groups = rails_, .own = own_rails_, .scale = scale_},
             {.operation = c.operation, .bytes = c.bytes, .groups = inside_, .own = own_inside_, .scale = scale_}},
            workload::Communication::Order::passed_on};
  const auto details = uneven_.find(c.among);
  workload::Communication out{{{.operation = c.operation,
                                .bytes = c.bytes,
                                .groups = groups_.at(c.among),
                                .own = c.among == Among::context_ring ? ring_ : 1,
                                .scale = scale_,
                                .details = details == uneven_.end() ? nullptr : details->second}}};
  if (c.among == Among::tensor) out.delay = tensor_delay_;
  return out;
}

}  // namespace stepcast::schedules
