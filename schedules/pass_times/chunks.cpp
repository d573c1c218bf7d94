#include "schedules/pass_times/chunks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/layers/frozen.h"
#include "schedules/pass_times/layer_traffic.h"

namespace stepcast::schedules {

namespace {

using PieceClasses = PieceTimes::PieceClasses;

/// Adds the time of kernels to their classes: fused attention has one of its own; of the others those that multiply
/// have model_flops(), and all else is memory-bound (multiplies(), models/layers/kernels.h). add_traffic() adds
/// traffic.
void add_kernels(PieceClasses& classes, const Kernels& kernels, const KernelCost& cost) {
  for (const Kernel& kernel : kernels) {
    if (std::holds_alternative<TensorCollective>(kernel)) continue;
    (std::holds_alternative<FusedAttention>(kernel) ? classes.attention
     : multiplies(kernel)                           ? classes.multiplies
                                                    : classes.memory_bound) += cost.time(kernel);
  }
}

Time PieceClasses::*class_of(Among among) {
  switch (among) {
    case Among::context:
    case Among::context_ring:
      return &PieceClasses::among_context;
    case Among::dispatch:
    case Among::combine:
    case Among::expert_tensor:
      return &PieceClasses::among_experts;
    case Among::tensor:
    case Among::tensor_column:
    case Among::tensor_depth:
    case Among::kv_copies:
      break;
  }
  return &PieceClasses::among_tensor;
}

void add_traffic(PieceClasses& classes, const PassParts& parts) {
  for (const PassPart& part : parts) {
    if (!part.traffic) continue;
    const Time alone = part.alone * part.times;
    classes.*class_of(part.traffic->among) += part.at_once ? std::max(alone - part.kernels, Time{}) : alone;
  }
}

bool has_traffic(const Blocks& blocks) {
  const auto has_any = [](const Kernels& kernels) {
    return std::ranges::any_of(kernels,
                               [](const Kernel& kernel) { return std::holds_alternative<TensorCollective>(kernel); });
  };
  return std::ranges::any_of(blocks.kinds, [&](const Block& block) {
    return has_any(block.forward) || has_any(block.recompute) || has_any(block.backward);
  });
}

/// GPUs whose slowest a step waits for: all, or those of one data rank where none waits for the others.
std::uint32_t waited_for(const Scenario& s) {
  const bool apart = s.data_parallel.consistency == Consistency::asynchronous;
  return apart ? s.cluster.gpus / s.parallelism.data : s.cluster.gpus;
}

/// Of what fetching a layer takes the host, which is measured on one with five matrices (configs/software,
/// huggingface-deepspeed), an expert's three are so much: ZeRO 3 fetches each by itself.
constexpr double kExpertsPartOfGatheredLayer = 3.0 / 5;

/// What the host does for a layer in each pass besides launching its kernels.
Time host_per_layer(const Block& block, const Scenario& s) {
  const Software& software = s.software;
  if (!block.layer) return {};
  const bool has_router =
      std::ranges::any_of(block.operators, [](const Operator& of) { return of.kind == OperatorKind::router; });
  Time time{};
  if (s.data_parallel.zero == 3 && shard_ranks(s) > 1) {
    const Time layer = on_host(software, software.host_per_gathered_layer);
    time += layer;
    if (software.expert_loop && has_router)
      time +=
          from_seconds(to_seconds(layer) * kExpertsPartOfGatheredLayer * static_cast<double>(s.model.experts.count));
  }
  if (software.host_per_expert_layer > Time{} && !software.cuda_graph_modules.router && has_router)
    time += software.host_per_expert_layer;
  return time;
}

}  // namespace

KernelCost cost_of(const Scenario& s) {
  return {.gpu = s.cluster.gpu,
          .software = s.software,
          .precision = s.training.precision,
          .slowest = slowest_of(s.cluster.gpu, waited_for(s))};
}

KernelCost cost_of(const Scenario& s, const Ranks& ranks, const Block& block) {
  KernelCost cost = cost_of(s);
  cost.peers = ranks.stages_leave_nodes() ? s.parallelism.tensor - 1 : 0;
  cost.of_layer = block.layer;
  return cost;
}

PieceTimes::PieceTimes(const Scenario& scenario, const Blocks& blocks, const Ranks& ranks,
                       const collectives::Timer& timer, bool fold, bool splits_backward, std::optional<OtherKind> other,
                       const HostCopies* copies, SiblingTime siblings)
    : scenario_(scenario),
      blocks_(blocks),
      ranks_(ranks),
      timer_(timer),
      fold_(fold),
      splits_backward_(splits_backward),
      siblings_(siblings),
      other_(other),
      copies_(copies),
      has_traffic_(has_traffic(blocks) || (other && has_traffic(other->blocks))) {}

bool PieceTimes::is_other_kind(Coordinate c) const {
  return other_ && is_other(scenario_.cluster, ranks_.gpu({0, c.data, c.stage}));
}

std::uint32_t PieceTimes::place_of(Coordinate c) const {
  const std::uint32_t first = topology::index(ranks_.gpu({0, c.data, c.stage})), per_node = ranks_.gpus_per_node();
  const bool other = is_other_kind(c);
  if (!has_traffic_) return other;
  // With a slow node, and where groups of different nodes meet, every group is on its own.
  if (timer_.cluster().has_slow_node() || ranks_.fabric_may_block()) return first;
  return first % per_node + (other ? per_node : 0);
}

const std::vector<PieceTimes::TimedPiece>* PieceTimes::timed_for(Coordinate c) const {
  const auto known = timed_.find(place_of(c));
  return known != timed_.end() && known->second.first == ranks_.gpu({0, c.data, c.stage}) ? &known->second.kinds
                                                                                          : nullptr;
}

const std::vector<PieceTimes::TimedPiece>& PieceTimes::at(Coordinate c) {
  const topology::GpuId first = ranks_.gpu({0, c.data, c.stage});
  const std::uint32_t place = place_of(c);
  if (const auto known = timed_.find(place); known != timed_.end()) return known->second.kinds;

  const bool other = is_other_kind(c);
  const Scenario& s = other ? other_->scenario : scenario_;
  const LayerTraffic traffic(s, ranks_, c);
  // Layers have few collectives that are unlike each other.
  std::map<std::tuple<Among, collectives::Operation, Bytes>, collectives::SharedTiming> timed;
  const TensorTimer tensor = [&](const TensorCollective& op) {
    const auto [known, is_new] = timed.try_emplace({op.among, op.operation, op.bytes});
    if (is_new) known->second = timing_of(op, traffic);
    return known->second;
  };
  std::vector<TimedPiece> kinds;
  for (const Block& block : (other ? other_->blocks : blocks_).kinds) {
    TimedPiece& kind = kinds.emplace_back();
    kind.parts = std::make_unique<PieceParts>();
    PieceParts& parts = *kind.parts;
    const CudaGraphs graphs = s.software.cuda_graphs;
    const KernelCost cost = cost_of(s, ranks_, block);
    const auto time = [&](const Kernels& kernels, PassParts& made, std::vector<KernelShare>& shares) {
      PassTime pass = pass_time(kernels, cost, tensor, &kind.traffic, &made, keeps_shares_ ? &shares : nullptr);
      if (graphs == CudaGraphs::step) pass.host = {};
      return pass;
    };
    kind.piece.parts = &parts;
    kind.piece.forward = time(block.forward, parts.forward, kind.shares.forward);
    kind.piece.recompute = time(block.recompute, parts.recompute, kind.shares.recompute);
    if (!block.recompute.empty() && graphs == CudaGraphs::none)
      kind.piece.recompute = of_host(on_host(s.software, s.software.host_per_checkpoint)) + kind.piece.recompute;
    if (splits_backward_) {
      const SplitBackward backward = split_backward(block.backward);
      kind.piece.gradients = time(backward.inputs, parts.backward, kind.shares.backward);
      kind.piece.weight = time(backward.weights, parts.weight, kind.shares.weight);
    } else {
      kind.piece.gradients = time(block.backward, parts.backward, kind.shares.backward);
    }
    if (const Time each = host_per_layer(block, s); each > Time{} && graphs == CudaGraphs::none) {
      for (PassTime* pass : {&kind.piece.forward, &kind.piece.gradients}) *pass = of_host(each) + *pass;
      if (s.recompute == Recompute::full && !block.recompute.empty())
        kind.piece.recompute = of_host(each) + kind.piece.recompute;
    }
    kind.piece.backward = kind.piece.recompute + kind.piece.gradients;
    if (copies_ != nullptr) {
      CopyParts forward, backward;
      kind.piece.forward = forward_with_copies(s, block, kind.piece.forward, *copies_, &forward);
      const Time without = kind.piece.backward.duration;
      kind.piece.backward = backward_with_copies(s, block, kind.piece.backward, *copies_, &backward);
      kind.piece.gradients = kind.piece.gradients + PassTime{.duration = kind.piece.backward.duration - without,
                                                             .exposed_copy = kind.piece.backward.exposed_copy,
                                                             .copies_in = kind.piece.backward.copies_in,
                                                             .copies_out = kind.piece.backward.copies_out,
                                                             .hides_copies = kind.piece.backward.hides_copies};
      if (forward.before) parts.forward.insert(parts.forward.begin(), *forward.before);
      if (forward.after) parts.forward.push_back(*forward.after);
      if (backward.before) parts.before_backward.push_back(*backward.before);
      if (backward.after) parts.backward.push_back(*backward.after);
    }
    kind.piece.parameters = block.parameters;
    kind.piece.experts = block.expert_parameters;
    kind.piece.stored = stored_parameters(s.training, block);
    kind.piece.trained = trained_parameters(block);
    kind.piece.trained_experts = trained_expert_parameters(block);
  }
  return timed_.emplace(place, Timed{first, std::move(kinds)}).first->second.kinds;
}

collectives::SharedTiming PieceTimes::timing_of(const TensorCollective& op, const LayerTraffic& traffic) {
  if (siblings_ == SiblingTime::bound) return traffic.bound(op, timer_);
  const bool some_are_late = scenario_.imperfections.any() || other_;
  collectives::SharedTiming timing =
      siblings_ == SiblingTime::any ? traffic.least_time(op, timer_, some_are_late) : traffic.time(op, timer_, fold_);
  alike_ = alike_ && timing->alike();
  if (siblings_ == SiblingTime::first && !timing->alike())
    timing = std::make_shared<const collectives::Timing>(scaled(*timing, 1 - timing->spread));
  return timing;
}

std::vector<PieceTimes::PieceClasses> PieceTimes::classes_at(Coordinate c) {
  const bool other = is_other_kind(c);
  const Scenario& s = other ? other_->scenario : scenario_;
  const std::vector<Block>& kinds = (other ? other_->blocks : blocks_).kinds;
  const std::vector<TimedPiece>& timed = at(c);
  std::vector<PieceClasses> all(kinds.size());
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const KernelCost cost = cost_of(s, ranks_, kinds[kind]);
    for (const Kernels* kernels : {&kinds[kind].forward, &kinds[kind].recompute, &kinds[kind].backward})
      add_kernels(all[kind], *kernels, cost);
    const PieceParts& parts = *timed[kind].parts;
    for (const PassParts* pass : {&parts.forward, &parts.recompute, &parts.backward, &parts.weight})
      add_traffic(all[kind], *pass);
  }
  return all;
}

void Stretch::add(const Piece& piece, PassKind kind, bool recompute) {
  const bool forward = kind == PassKind::forward, weight = kind == PassKind::weight;
  time = time + (recompute || forward || weight ? time_of(piece, kind) : gradients_of(piece, kind));
  if (piece.parts == nullptr) return;
  if (!forward && !weight && !piece.parts->before_backward.empty()) parts.push_back(&piece.parts->before_backward);
  if (!forward && !weight && recompute) parts.push_back(&piece.parts->recompute);
  if (!weight) parts.push_back(forward ? &piece.parts->forward : &piece.parts->backward);
  if (weight || kind == PassKind::whole_backward) parts.push_back(&piece.parts->weight);
}

Stretch recompute_of(const Piece& piece) {
  Stretch all{piece.recompute};
  if (piece.parts != nullptr) all.parts.push_back(&piece.parts->recompute);
  return all;
}

Stretch stretch_of(const Chunk& chunk, PassKind kind) {
  if (chunk.pieces.empty() || chunk.pieces.front().parts == nullptr) return {time_of(chunk, kind)};
  Stretch all;
  if (kind == PassKind::forward)
    for (const Piece& piece : chunk.pieces) all.add(piece, kind);
  else
    for (auto piece = chunk.pieces.rbegin(); piece != chunk.pieces.rend(); ++piece) all.add(*piece, kind);
  return all;
}

Stretch together(const Stretch& a, const Stretch& b) {
  Stretch both{together(a.time, b.time), a.parts, true};
  both.parts.insert(both.parts.end(), b.parts.begin(), b.parts.end());
  return both;
}

Chunk PieceTimes::chunk(Coordinate c, std::span<const BlockRange> chunks, std::uint32_t virtual_stage) {
  const std::vector<TimedPiece>& kinds = at(c);
  const BlockRange& range = chunks[virtual_stage];
  Chunk chunk;
  for (const std::uint32_t place : places({&range, 1})) {
    chunk.forward = chunk.forward + chunk.pieces.emplace_back(kinds[blocks_.order[place]].piece).forward;
  }
  for (auto piece = chunk.pieces.rbegin(); piece != chunk.pieces.rend(); ++piece) {
    chunk.backward = chunk.backward + piece->backward;
    chunk.weight = chunk.weight + piece->weight;
  }
  const std::uint32_t copy = tied_place(blocks_);
  const bool has_copy = range.first <= copy && copy < range.first + range.count;
  if (has_copy && std::ranges::find(chunks, 0u, &BlockRange::first) != chunks.end()) {
    Piece& piece = chunk.pieces[copy - range.first];
    piece.parameters -= blocks_.tied;  // one copy on this rank
    piece.stored -= blocks_.tied;
    if (blocks_.trains_tied) piece.trained -= blocks_.tied;
  }
  return chunk;
}

}  // namespace stepcast::schedules
