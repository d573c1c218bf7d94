#pragma once

#include <cstdint>
#include <vector>

#include "schedules/parallel/ranks.h"
#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// How lanes are numbered, and which of them share data-parallel traffic. Stage by stage; in each, one lane with
/// folding, without it every rank.
class LaneGroups {
 public:
  LaneGroups(const Shape& shape, const Ranks& ranks, bool unfold);

  std::uint32_t replicas() const { return replicas_; }  ///< lanes of a stage
  std::uint32_t lane(std::uint32_t replica, std::uint32_t stage) const { return stage * replicas_ + replica; }
  /// That stands for a rank.
  std::uint32_t lane(Coordinate at) const { return lane(unfold_ ? ranks_.place_in_stage(at) : 0, at.stage); }
  Coordinate at(std::uint32_t lane) const { return ranks_.in_stage(lane % replicas_, lane / replicas_); }

  /// The lane that keeps the traffic of a virtual stage's group: without folding each rank of the group has a lane, and
  /// where stages hold two copies of the model, both stages of a chunk have.
  std::uint32_t leader(std::uint32_t lane, std::uint32_t virtual_stage) const;
  /// Of every group of the lane.
  std::vector<std::uint32_t> leaders(std::uint32_t lane) const;
  std::vector<std::uint32_t> members(std::uint32_t leader) const;

 private:
  const Shape shape_;
  const Ranks& ranks_;
  const bool unfold_;
  const std::uint32_t replicas_;
};

}  // namespace stepcast::schedules
