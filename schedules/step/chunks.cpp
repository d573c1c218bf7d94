#include "schedules/step/chunks.h"

namespace stepcast::schedules {

PieceTimes::PieceTimes(const Scenario& scenario, const Ranks& ranks, collectives::Timer& timer,
                       std::uint32_t gpus_per_node, bool fold)
    : scenario_(scenario), ranks_(ranks), timer_(timer), gpus_per_node_(gpus_per_node), fold_(fold) {}

const PieceTimes::Times& PieceTimes::at(Coordinate c) {
  const std::uint32_t place = topology::index(ranks_.gpu({0, c.data, c.stage})) % gpus_per_node_;
  if (const auto known = times_.find(place); known != times_.end()) return known->second;

  const Scenario& s = scenario_;
  const KernelCost cost{s.cluster.gpu, s.software, s.training.precision};
  const auto groups = ranks_.tensor_groups_beside(c);
  const TensorTimer tensor = [&](collectives::Operation operation, Bytes bytes) {
    return timer_.time(operation, bytes, groups, "auto", fold_);
  };
  Times times;
  const LayerOperators layer = layer_operators(s);
  times.layer.forward = pass_time(layer.forward, cost, tensor, &times.layer_traffic);
  times.layer.backward = pass_time(layer.backward, cost, tensor, &times.layer_traffic);
  if (s.recompute == Recompute::full)
    times.layer.recompute = pass_time(layer.forward, cost, tensor, &times.layer_traffic);
  if (s.recompute == Recompute::selective) times.layer.recompute = pass_time(layer.recompute_core, cost, tensor);
  times.layer.backward = times.layer.backward + times.layer.recompute;
  times.layer.parameters = stage_parameters(s, {.layers = 1, .embedding = false, .head = false, .in_flight = 0});

  const PartOperators embedding = embedding_operators(s), head = head_operators(s);
  times.embedding = {pass_time(embedding.forward, cost, tensor),
                     pass_time(embedding.backward, cost, tensor),
                     {},
                     stage_parameters(s, {.layers = 0, .embedding = true, .head = false, .in_flight = 0})};
  times.head = {
      pass_time(head.forward, cost, tensor),
      pass_time(head.backward, cost, tensor),
      {},
      stage_parameters(s, {.layers = 0, .embedding = s.parallelism.pipeline == 1, .head = true, .in_flight = 0})};
  if (s.parallelism.pipeline == 1) times.head.parameters -= times.embedding.parameters;
  return times_.emplace(place, std::move(times)).first->second;
}

Chunk PieceTimes::chunk(Coordinate c, std::uint32_t virtual_stage) {
  const Times& times = at(c);
  const std::uint32_t stages = scenario_.parallelism.pipeline, virtual_stages = scenario_.pipeline.virtual_stages;
  Chunk chunk;
  if (c.stage == 0 && virtual_stage == 0) chunk.pieces.push_back(times.embedding);
  const std::int64_t layers = scenario_.model.layers / (static_cast<std::int64_t>(stages) * virtual_stages);
  chunk.pieces.insert(chunk.pieces.end(), static_cast<std::size_t>(layers), times.layer);
  if (c.stage + 1 == stages && virtual_stage + 1 == virtual_stages) chunk.pieces.push_back(times.head);
  for (const Piece& piece : chunk.pieces) {
    chunk.forward = chunk.forward + piece.forward;
    chunk.backward = chunk.backward + piece.backward;
  }
  return chunk;
}

}  // namespace stepcast::schedules
