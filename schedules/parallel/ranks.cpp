#include "schedules/parallel/ranks.h"

#include <set>

namespace stepcast::schedules {

using collectives::Group;

Ranks::Ranks(const Parallelism& plan, std::uint32_t gpus_per_node, bool fabric_may_block)
    : plan_(plan), copies_(weight_copies(plan)), gpus_per_node_(gpus_per_node), fabric_may_block_(fabric_may_block) {
  std::uint32_t next = 1;
  for (const Dimension d : plan.order) {
    strides_[static_cast<std::size_t>(d)] = next;
    next *= size(plan, d);
  }
}

bool Ranks::stages_leave_nodes() const {
  // Stages lie at one distance, and all of a plan's repeats after the last.
  const std::uint32_t repeats = stride(Dimension::pipeline) * plan_.pipeline;
  return plan_.pipeline > 1 && count() > gpus_per_node_ && gpus_per_node_ % repeats != 0;
}

Group Ranks::tensor_group(std::uint32_t data, std::uint32_t stage) const {
  Group group;
  for (std::uint32_t t = 0; t < plan_.tensor; ++t) group.push_back(gpu({t, data, stage}));
  return group;
}

Group Ranks::data_group(std::uint32_t tensor, std::uint32_t stage, std::optional<std::uint32_t> copy) const {
  Group group;
  for (std::uint32_t d = 0; d < copies_; ++d) group.push_back(gpu({tensor, d, stage}));
  if (copy)
    for (std::uint32_t d = 0; d < copies_; ++d) group.push_back(gpu({tensor, d, *copy}));
  return group;
}

Group Ranks::node_mates(Coordinate c) const {
  const topology::GpuId own = gpu(c);
  Group mates{own};
  const std::uint32_t first = node(own) * gpus_per_node_, end = std::min(first + gpus_per_node_, count());
  for (std::uint32_t g = first; g < end; ++g)
    if (g != topology::index(own) && coordinate(g).stage == c.stage) mates.push_back(topology::GpuId{g});
  return mates;
}

std::vector<Group> Ranks::tensor_groups_beside(Coordinate c) const {
  std::vector<Group> groups{tensor_group(c.data, c.stage)};
  std::set<std::uint32_t> neighbourhoods, others;
  for (const topology::GpuId g : groups[0]) neighbourhoods.insert(neighbourhood(g));
  for (const std::uint32_t each : neighbourhoods)
    in_neighbourhood(each, [&](Coordinate other) {
      if (other.stage == c.stage && other.data != c.data) others.insert(other.data);
    });
  for (const std::uint32_t data : others) groups.push_back(tensor_group(data, c.stage));
  return groups;
}

std::vector<Group> Ranks::data_groups_beside(Coordinate c, std::optional<std::uint32_t> copy) const {
  std::vector<Group> groups{data_group(c.tensor, c.stage, copy)};
  std::set<std::uint32_t> neighbourhoods;
  for (const topology::GpuId g : groups[0]) neighbourhoods.insert(neighbourhood(g));
  for (std::uint32_t t = 0; t < plan_.tensor; ++t) {
    if (t == c.tensor) continue;
    Group group = data_group(t, c.stage, copy);
    for (const topology::GpuId g : group)
      if (neighbourhoods.contains(neighbourhood(g))) {
        groups.push_back(std::move(group));
        break;
      }
  }
  return groups;
}

std::vector<Group> Ranks::strided(Coordinate c, std::uint32_t groups, std::uint32_t group_stride, std::uint32_t size,
                                  std::uint32_t stride) const {
  std::vector<Group> out;
  for (std::uint32_t turn = 0; turn < plan_.tensor; ++turn) {
    const std::uint32_t tensor = (c.tensor + turn) % plan_.tensor;
    for (std::uint32_t g = 0; g < groups; ++g) {
      Group& group = out.emplace_back();
      for (std::uint32_t i = 0; i < size; ++i) group.push_back(gpu({tensor, g * group_stride + i * stride, c.stage}));
    }
  }
  return out;
}

std::vector<Group> Ranks::shard_groups(Coordinate c, std::uint32_t size) const {
  return strided(c, copies_ / size, size, size, 1);
}

std::vector<Group> Ranks::replica_groups(Coordinate c, std::uint32_t size) const {
  return strided(c, size, 1, copies_ / size, size);
}

std::vector<Group> Ranks::sends_beside(Coordinate c, std::uint32_t to) const {
  std::vector<Group> pairs{{gpu(c), gpu({c.tensor, c.data, to})}};
  in_neighbourhood(neighbourhood(gpu(c)), [&](Coordinate other) {
    if (other.stage != c.stage || (other.tensor == c.tensor && other.data == c.data)) return;
    pairs.push_back({gpu(other), gpu({other.tensor, other.data, to})});
  });
  return pairs;
}

}  // namespace stepcast::schedules
