#include "schedules/step/inner_traffic.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "models/layers/frozen.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/pass_times/layer_traffic.h"
#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {
namespace {

/// Calls `see` with every part of what a lane runs.
template <class See>
void each_part(const DataPlan& plan, const See& see) {
  std::set<const PieceParts*> seen;
  for (const Chunk& chunk : plan.chunks)
    for (const Piece& piece : chunk.pieces) {
      if (piece.parts == nullptr || !seen.insert(piece.parts).second) continue;
      for (const PassParts* parts : {&piece.parts->forward, &piece.parts->recompute, &piece.parts->before_backward,
                                     &piece.parts->backward, &piece.parts->weight})
        for (const PassPart& part : *parts) see(part);
    }
}

void see_whole(DataPlan& plan) {
  for (Chunk& chunk : plan.chunks)
    for (Piece& piece : chunk.pieces) piece.parts = nullptr;
}

/// Of groups that share traffic inside layers.
int kinds_of_groups(const Parallelism& plan) {
  return (plan.tensor > 1) + (plan.context > 1) + (plan.expert > 1) + (plan.expert_tensor > 1);
}

/// The lanes of the groups that ask.
std::vector<std::uint32_t> lanes_of(const workload::Communication& communication, const StepInput& in,
                                    const LaneGroups& lanes) {
  std::set<std::uint32_t> members;
  for (const workload::Collective& one : communication.collectives)
    for (std::uint32_t g = 0; g < one.own; ++g)
      for (const topology::GpuId gpu : (*one.groups)[g])
        members.insert(lanes.lane(in.ranks.coordinate(topology::index(gpu))));
  return {members.begin(), members.end()};
}

}  // namespace

InnerTraffic::InnerTraffic(const StepInput& in, const LaneGroups& lanes, Traffic& traffic)
    : in_step_(traffic.data.size()) {
  std::map<Key, workload::CommunicationId> declared;  // by the group's first lane
  for (std::uint32_t lane = 0; lane < traffic.data.size(); ++lane) {
    std::optional<LayerTraffic> of_lane;
    for (const PassPart& part : update_in_parts(in, lanes.at(lane))) declare_copies(in, lanes, lane, part, traffic);
    each_part(traffic.data[lane], [&](const PassPart& part) {
      declare_copies(in, lanes, lane, part, traffic);
      if (!part.traffic || groups_.contains(key(lane, *part.traffic))) return;
      if (!of_lane) of_lane.emplace(in.scenario, in.ranks, lanes.at(lane));
      workload::Communication communication = of_lane->communication(*part.traffic);
      Group group{.communication = {}, .lanes = lanes_of(communication, in, lanes)};
      const std::uint32_t first = group.lanes.front();
      const auto [made, fresh] =
          declared.try_emplace(key(first, *part.traffic),
                               workload::CommunicationId{static_cast<std::uint32_t>(traffic.communications.size())});
      group.communication = made->second;
      if (fresh) {
        communication.turn = first;
        traffic.communications.push_back(std::move(communication));
      }
      groups_.emplace(key(lane, *part.traffic), std::move(group));
    });
  }
}

void InnerTraffic::declare_copies(const StepInput& in, const LaneGroups& lanes, std::uint32_t lane,
                                  const PassPart& part, Traffic& traffic) {
  for (const HostTraffic& each : part.copies) {
    const workload::CommunicationId id{static_cast<std::uint32_t>(traffic.communications.size())};
    if (!copies_.try_emplace({lane, each}, id).second) continue;
    copies_meet_ = true;
    workload::Communication communication;
    communication.copy = in.copies->copy(each, in.ranks.node_mates(lanes.at(lane)));
    // With overlap each way has turns of its own, after those of the lane's streams.
    const auto way = static_cast<std::uint32_t>(std::size(kLaneStreams)) + (each.direction == topology::ToHost::yes);
    communication.turn =
        in.scenario.offload.overlap ? way * static_cast<std::uint32_t>(traffic.data.size()) + lane : lane;
    traffic.communications.push_back(std::move(communication));
  }
}

const InnerTraffic::Group& InnerTraffic::group(std::uint32_t lane, const TensorCollective& collective) const {
  return groups_.at(key(lane, collective));
}

bool InnerTraffic::any_meets(std::uint32_t lane, const DataPlan& plan) const {
  bool any = copies_meet_;
  each_part(plan, [&](const PassPart& part) { any = any || (part.traffic && group(lane, *part.traffic).meets); });
  return any;
}

bool InnerTraffic::keep_what_meets(const StepInput& in, const workload::Flows& flows, Traffic& traffic) {
  // Of few lanes each may be late for every collective by itself; of more a group begins each pass together.
  constexpr std::size_t kFewLanes = 128;
  const bool few = traffic.data.size() <= kFewLanes, apart = !flows.alike() || in.stragglers != nullptr;
  std::vector<std::set<std::pair<Among, std::uint32_t>>> in_step(traffic.data.size());
  std::map<std::uint32_t, const std::vector<std::uint32_t>*> one_group;  // by lane: any that it is in
  for (auto& [key, group] : groups_) {
    const bool several = group.lanes.size() > 1;
    group.meets = flows.shares(group.communication) || (several && !flows.alike() && few);
    if (several && few && in.unfold && !in.pieces.alike()) {
      const auto* const known = one_group.try_emplace(std::get<0>(key), &group.lanes).first->second;
      waits_in_every_pass_ = waits_in_every_pass_ || *known != group.lanes;
    }
    if (several && apart && !group.meets) in_step[std::get<0>(key)].emplace(std::get<Among>(key), group.lanes.front());
  }
  copies_meet_ = std::ranges::any_of(copies_, [&](const auto& copy) { return flows.shares(copy.second); });
  bool any = false;
  for (std::uint32_t lane = 0; lane < traffic.data.size(); ++lane) {
    in_step_[lane].assign(in_step[lane].begin(), in_step[lane].end());
    any = any || !in_step_[lane].empty();
    if (any_meets(lane, traffic.data[lane]))
      any = true;
    else
      see_whole(traffic.data[lane]);
  }
  return any;
}

PassParts update_in_parts(const StepInput& in, Coordinate lane) {
  const Scenario& s = in.scenario;
  if (s.offload.optimizer == Tier::gpu || s.training.optimizer == Optimizer::none) return {};
  const Held trained = trained_held(in.blocks, in.chunks[lane.stage]);
  return parts_of_update_on_host(s, updated(s, trained, copies(in.pipeline->shape)), *in.copies);
}

namespace {

/// Ranks of a stage, one for each node that holds some; of stages whose nodes are alike the first alone.
std::vector<Coordinate> one_of_each_node(const StepInput& in, std::uint32_t stage) {
  std::vector<Coordinate> ranks{{.stage = stage}};
  if (!in.unfold) return ranks;
  std::set<std::uint32_t> nodes{in.ranks.node(in.ranks.gpu(ranks.front()))};
  for (std::uint32_t place = 1; place < in.ranks.stage_ranks(); ++place) {
    const Coordinate rank = in.ranks.in_stage(place, stage);
    if (nodes.insert(in.ranks.node(in.ranks.gpu(rank))).second) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::vector<collectives::Timing::Load> copied(const StepInput& in) {
  std::vector<collectives::Timing::Load> loads;
  if (in.copies == nullptr) return loads;
  workload::HostWays ways(in.machine.cluster());
  const double micro_batches_of_chunk = static_cast<double>(micro_batches(in.scenario)) / copies(in.pipeline->shape);
  for (std::uint32_t stage = 0; stage < in.chunks.size(); ++stage)
    for (const Coordinate rank : one_of_each_node(in, stage)) {
      const auto add = [&](const PassPart& part, double times) {
        for (const HostTraffic& each : part.copies)
          for (const topology::GpuId gpu : in.ranks.node_mates(rank))
            for (const topology::LinkId link : ways.way(gpu, each.direction).links)
              loads.push_back({link, each.bytes * times, each.bytes * times});
      };
      const std::vector<PieceTimes::TimedPiece>& kinds = in.pieces.at(rank);
      for (const std::uint32_t place : places(in.chunks[stage])) {
        const PieceParts& parts = *kinds[in.blocks.order[place]].parts;
        for (const PassParts* pass : {&parts.forward, &parts.before_backward, &parts.backward})
          for (const PassPart& part : *pass) add(part, micro_batches_of_chunk);
      }
      for (const PassPart& part : update_in_parts(in, rank)) add(part, 1);
    }
  return loads;
}

bool inner_may_meet(const StepInput& in) {
  const Parallelism& plan = in.scenario.parallelism;
  const bool overlaps = in.exchange == Exchange::gradients && data_overlap(in.scenario) &&
                        weight_copies(plan) * copies(in.pipeline->shape) > 1;
  const bool inside = kinds_of_groups(plan) > 0;
  if (in.copies != nullptr && in.scenario.offload.overlap && inside) return true;
  if (in.stragglers != nullptr && inside) return true;  // ranks wait for each other
  return (inside || in.copies != nullptr) && (plan.pipeline > 1 || overlaps);
}

bool ranks_part(const StepInput& in, const workload::Flows& flows) {
  if (!in.unfold) return false;
  const int kinds = kinds_of_groups(in.scenario.parallelism);
  const bool alike = in.pieces.alike();
  return (kinds > 1 && !alike) || (kinds > 0 && exchanges_in_each_micro_batch(in) && !(alike && flows.alike()));
}

void see_whole(Traffic& traffic) {
  for (DataPlan& plan : traffic.data) see_whole(plan);
}

}  // namespace stepcast::schedules
