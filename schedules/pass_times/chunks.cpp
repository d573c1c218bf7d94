#include "schedules/pass_times/chunks.h"

#include <algorithm>

#include "models/layers/frozen.h"
#include "schedules/pass_times/layer_traffic.h"

namespace stepcast::schedules {

PieceTimes::PieceTimes(const Scenario& scenario, const Blocks& blocks, const Ranks& ranks,
                       const collectives::Timer& timer, bool fold, bool splits_backward,
                       const workload::SlowLinks* slow_links, std::optional<OtherKind> other, const HostCopies* copies)
    : scenario_(scenario),
      blocks_(blocks),
      ranks_(ranks),
      timer_(timer),
      fold_(fold),
      splits_backward_(splits_backward),
      slow_links_(slow_links),
      other_(other),
      copies_(copies) {}

const std::vector<PieceTimes::Kind>& PieceTimes::at(Coordinate c) {
  const topology::GpuId first = ranks_.gpu({0, c.data, c.stage});
  const bool other = other_ && is_other(scenario_.cluster, first);
  // With slow links every group is on its own.
  const std::uint32_t per_node = ranks_.gpus_per_node();
  const std::uint32_t place =
      slow_links_ != nullptr ? topology::index(first) : topology::index(first) % per_node + (other ? per_node : 0);
  if (const auto known = kinds_.find(place); known != kinds_.end()) return known->second;

  const Scenario& s = other ? other_->scenario : scenario_;
  const KernelCost cost{s.cluster.gpu, s.software, s.training.precision};
  const LayerTraffic traffic(s, ranks_, c);
  const TensorTimer tensor = [&](const TensorCollective& op) {
    collectives::Timing timing = traffic.time(op, timer_, fold_);
    return slow_links_ != nullptr ? slow_links_->slowed(std::move(timing)) : timing;
  };
  std::vector<Kind> kinds;
  for (const Block& block : (other ? other_->blocks : blocks_).kinds) {
    Kind& kind = kinds.emplace_back();
    kind.piece.forward = pass_time(block.forward, cost, tensor, &kind.traffic);
    kind.piece.recompute = pass_time(block.recompute, cost, tensor, &kind.traffic);
    if (splits_backward_) {
      const SplitBackward backward = split_backward(block.backward);
      kind.piece.backward = pass_time(backward.inputs, cost, tensor, &kind.traffic) + kind.piece.recompute;
      kind.piece.weight = pass_time(backward.weights, cost, tensor);
    } else {
      kind.piece.backward = pass_time(block.backward, cost, tensor, &kind.traffic) + kind.piece.recompute;
    }
    if (copies_ != nullptr) {
      kind.piece.forward = forward_with_copies(s, block, kind.piece.forward, *copies_);
      kind.piece.backward = backward_with_copies(s, block, kind.piece.backward, *copies_);
    }
    kind.piece.parameters = block.parameters;
    kind.piece.experts = block.expert_parameters;
  }
  return kinds_.emplace(place, std::move(kinds)).first->second;
}

Chunk PieceTimes::chunk(Coordinate c, std::span<const BlockRange> chunks, std::uint32_t virtual_stage) {
  const std::vector<Kind>& kinds = at(c);
  const BlockRange& range = chunks[virtual_stage];
  Chunk chunk;
  for (const std::uint32_t place : places({&range, 1})) {
    Piece& piece = chunk.pieces.emplace_back(kinds[blocks_.order[place]].piece);
    piece.trained = piece.parameters - frozen_parameters(blocks_, place);
    chunk.forward = chunk.forward + piece.forward;
    chunk.backward = chunk.backward + piece.backward;
    chunk.weight = chunk.weight + piece.weight;
  }
  const bool last = range.first + range.count == blocks_.order.size();
  if (last && std::ranges::find(chunks, 0u, &BlockRange::first) != chunks.end()) {
    chunk.pieces.back().parameters -= blocks_.tied;  // one copy on this rank
    chunk.pieces.back().trained -= blocks_.tied;
  }
  return chunk;
}

}  // namespace stepcast::schedules
