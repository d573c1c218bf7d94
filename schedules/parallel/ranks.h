#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/timing/timer.h"
#include "scenario/scenario.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// Where a rank stands in the parallel plan. `data` counts the ranks with the same weights: those that share a sequence
/// innermost, then the data ranks.
struct Coordinate {
  std::uint32_t tensor = 0, data = 0, stage = 0;
};

/// The parallel plan laid over the cluster in the plan's order: by default tensor ranks innermost, then context, data,
/// pipeline stages.
class Ranks {
 public:
  /// `fabric_may_block`: all nodes are one neighbourhood.
  Ranks(const Parallelism& plan, std::uint32_t gpus_per_node, bool fabric_may_block = false);

  const Parallelism& plan() const { return plan_; }
  std::uint32_t stage_ranks() const { return plan_.tensor * copies_; }
  std::uint32_t count() const { return stage_ranks() * plan_.pipeline; }
  topology::GpuId gpu(Coordinate c) const {
    return topology::GpuId{c.tensor * stride(Dimension::tensor) + c.data % plan_.context * stride(Dimension::context) +
                           c.data / plan_.context * stride(Dimension::data) + c.stage * stride(Dimension::pipeline)};
  }
  Coordinate coordinate(std::uint32_t rank) const {
    const auto at = [&](Dimension d) { return rank / stride(d) % size(plan_, d); };
    return {at(Dimension::tensor), at(Dimension::context) + plan_.context * at(Dimension::data),
            at(Dimension::pipeline)};
  }

  /// Ranks of a stage from 0, tensor ranks innermost, then context, whatever the order, and back.
  std::uint32_t place_in_stage(Coordinate c) const { return c.tensor + plan_.tensor * c.data; }
  Coordinate in_stage(std::uint32_t place, std::uint32_t stage) const {
    return {place % plan_.tensor, place / plan_.tensor, stage};
  }
  /// Between ranks that are neighbours in a dimension.
  std::uint32_t stride(Dimension d) const { return strides_[static_cast<std::size_t>(d)]; }
  std::uint32_t gpus_per_node() const { return gpus_per_node_; }
  std::uint32_t node(topology::GpuId g) const { return index(g) / gpus_per_node_; }
  /// Traffic of GPUs of one neighbourhood may meet: of a node, or where the fabric may block of all.
  std::uint32_t neighbourhood(topology::GpuId g) const { return fabric_may_block_ ? 0 : node(g); }
  bool fabric_may_block() const { return fabric_may_block_; }
  /// Whether some stage and the next one are on different nodes.
  bool stages_leave_nodes() const;

  collectives::Group tensor_group(std::uint32_t data, std::uint32_t stage) const;
  collectives::Group data_group(std::uint32_t tensor, std::uint32_t stage,
                                std::optional<std::uint32_t> copy = {}) const;

  /// The GPU of `c`, then those of its stage in its node.
  collectives::Group node_mates(Coordinate c) const;

  /// The group of `c`, then every group of the same kind and stage that has a GPU in one of its neighbourhoods: they
  /// run at the same moment and share links.
  std::vector<collectives::Group> tensor_groups_beside(Coordinate c) const;
  /// `copy`: the stage that holds another copy of the same chunk; its ranks are of the group.
  std::vector<collectives::Group> data_groups_beside(Coordinate c, std::optional<std::uint32_t> copy = {}) const;
  /// Every group of `size` data ranks in a row at the stage of `c`, those of tensor rank c.tensor first: hybrid
  /// sharding's shard groups. Requires size to divide the data ranks.
  std::vector<collectives::Group> shard_groups(Coordinate c, std::uint32_t size) const;
  /// Every group of data ranks that hold the same shard, likewise.
  std::vector<collectives::Group> replica_groups(Coordinate c, std::uint32_t size) const;
  /// Pairs {sender, receiver} from stage c.stage to stage `to`: the one of `c`, then those that start in its
  /// neighbourhood.
  std::vector<collectives::Group> sends_beside(Coordinate c, std::uint32_t to) const;

 private:
  /// Calls `visit` with the coordinate of every rank in a neighbourhood.
  template <class Visit>
  void in_neighbourhood(std::uint32_t number, const Visit& visit) const {
    const std::uint32_t size = fabric_may_block_ ? count() : gpus_per_node_;
    const std::uint32_t end = std::min((number + 1) * size, count());
    for (std::uint32_t g = number * size; g < end; ++g) visit(coordinate(g));
  }
  /// `groups` a tensor rank, of `size` data ranks each: the first is group * `group_stride`, then every `stride`-th.
  std::vector<collectives::Group> strided(Coordinate c, std::uint32_t groups, std::uint32_t group_stride,
                                          std::uint32_t size, std::uint32_t stride) const;

  Parallelism plan_;
  std::uint32_t copies_;
  std::uint32_t gpus_per_node_;
  bool fabric_may_block_;
  std::array<std::uint32_t, kDimensions> strides_{};  // by Dimension
};

}  // namespace stepcast::schedules
