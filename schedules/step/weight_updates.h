#pragma once

#include <optional>
#include <vector>

#include "schedules/data_parallel/groups.h"
#include "schedules/step/joined.h"
#include "schedules/step/lanes.h"

namespace stepcast::schedules {

/// The update of `trained` parameters that a rank holds, on its GPU, and what a stack copies of their gradients where
/// it sums them once a step. `copies`: stages that hold the same ones.
Time update_time(const Scenario& scenario, const Gpu& gpu, const Held& trained, std::uint32_t copies);

/// What follows a lane's gradients: their sums over the data ranks and over tied embeddings, compressed or not, the
/// optimizer, and updated parameters on their way back.
class WeightUpdates {
 public:
  explicit WeightUpdates(Lanes& lanes);

  /// The sum of gradients that are there once `done` has ended; without overlap the lane's compute waits for it.
  void add_sum(std::uint32_t lane, std::uint32_t leader, const Declared& sum, sim::TaskId done);
  /// Every bucket of a virtual stage, once the lane's last task has ended.
  void add_sums(std::uint32_t lane, std::uint32_t virtual_stage);

  /// On all lanes, once their passes are made.
  void add_after_flush();
  /// The lane's weights change while others go on. Its compute waits for its group's sum; of the tied embeddings'
  /// each end takes the other's share when it comes, no staler than its weights are.
  void add_without_flush(std::uint32_t lane, std::uint32_t micro_batches_done);
  /// Local SGD: after the update every group averages its parameters.
  void add_averages();

 private:
  /// Without overlap: one sum of all gradients of each group.
  void add_whole_sums(std::uint32_t lane);
  /// When what is to be summed may leave, once its gradients are there.
  sim::TaskId compressed(std::uint32_t lane, const Declared& sum, sim::TaskId done);
  /// Turns the sum that came last into gradients.
  void decompress(std::uint32_t lane, sim::TaskId sum);
  std::vector<std::optional<sim::TaskId>> add_tied_embeddings();
  /// What the lane's update must wait for, so that sums do not fall ever further behind.
  std::optional<sim::TaskId> add_tied_embeddings_beside(std::uint32_t lane);
  /// The update of the parameters that a lane's rank has.
  LaneTask& add_update(std::uint32_t lane);
  void add_optimizer(std::uint32_t lane, std::optional<sim::TaskId> embeddings);

  Lanes& lanes_;
  const Scenario& s_;
  const std::uint32_t copies_;
  const int zero_;
  Joined ties_;                                      ///< by replica
  std::vector<std::vector<sim::TaskId>> last_sums_;  ///< per lane, since its weights last changed
  std::vector<std::vector<sim::TaskId>> tied_sums_;  ///< per lane: of the tied embeddings, in order
};

}  // namespace stepcast::schedules
