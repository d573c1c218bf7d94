#include "search/layer_cuts.h"

#include <algorithm>
#include <utility>

#include "schedules/pipeline/placement.h"
#include "schedules/plan/communicators.h"
#include "schedules/plan/kinds.h"
#include "schedules/plan/memory.h"
#include "schedules/plan/out_of_memory.h"
#include "search/cut.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// What of a model a cut may not part: the embedding, each layer with what follows it, and the head.
std::vector<BlockRange> unparted(const Blocks& blocks) {
  std::vector<BlockRange> all;
  std::uint32_t to_come = count_layers(blocks);
  bool layer_before = false;
  for (std::uint32_t place = 0; place < blocks.order.size(); ++place) {
    const bool layer = blocks.at(place).layer;
    const bool head = !layer && to_come == 0 && layer_before;
    if (layer || head || all.empty()) all.push_back({place, 0});
    ++all.back().count;
    to_come -= layer;
    layer_before = layer;
  }
  return all;
}

/// Of one micro-batch, forward and backward.
Time time_of(const Piece& piece) { return in_a_row(piece.forward) + in_a_row(piece.backward) + in_a_row(piece.weight); }

using KindsOfBlocks = std::vector<PieceTimes::TimedPiece>;

/// What each part takes; where GPUs of two kinds hold a stage, on the slower ones.
std::vector<Time> times_on(const Blocks& blocks, const std::vector<BlockRange>& parts, const KindsOfBlocks& some,
                           const KindsOfBlocks& others) {
  std::vector<Time> of_kinds(some.size());
  for (std::size_t kind = 0; kind < some.size(); ++kind)
    of_kinds[kind] = std::max(time_of(some[kind].piece), time_of(others[kind].piece));
  std::vector<Time> times;
  for (const BlockRange& part : parts) {
    Time& time = times.emplace_back();
    for (std::uint32_t place = part.first; place < part.first + part.count; ++place)
      time += of_kinds[blocks.order[place]];
  }
  return times;
}

Chain chain_of(const Scenario& s, const Shape& shape, LayerTimes::TimedLayers& timed,
               const std::vector<BlockRange>& parts) {
  Chain chain;
  const std::uint32_t last = timed.other ? weight_copies(s.parallelism) - 1 : 0;
  using OfTwo = std::pair<const KindsOfBlocks*, const KindsOfBlocks*>;
  std::vector<OfTwo> known;
  for (std::uint32_t chunk = 0; chunk < chunks(shape); ++chunk) {
    const std::uint32_t stage = place(shape, {0, chunk}).stage;
    const OfTwo own{&timed.pieces.at({0, 0, stage}), &timed.pieces.at({0, last, stage})};
    const auto found = std::ranges::find(known, own);
    chain.kinds.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found != known.end()) continue;
    known.push_back(own);
    chain.times.push_back(times_on(timed.blocks, parts, *own.first, *own.second));
  }
  const std::uint32_t chunks_a_stage = shape.virtual_stages / copies(shape);
  chain.repeats = (std::int64_t{micro_batches(s)} - 1) * chunks_a_stage;
  return chain;
}

/// The layers of each chunk of a cut.
std::vector<std::uint32_t> layers_of(const std::vector<std::uint32_t>& cut, const Blocks& blocks,
                                     const std::vector<BlockRange>& parts) {
  std::vector<std::uint32_t> layers;
  std::size_t next = 0;
  for (const std::uint32_t count : cut) {
    layers.push_back(0);
    for (const std::size_t end = next + count; next < end; ++next) layers.back() += blocks.at(parts[next].first).layer;
  }
  return layers;
}

/// Whether a stage can hold some parts, as plan() has it. Remembers by how many blocks of each kind they are.
class Room {
 public:
  Room(const Scenario& s, const Plan& plan, const std::vector<BlockRange>& parts)
      : s_(s), staged_(plan.staged), parts_(parts), ranks_(s.parallelism, s.cluster.node.gpus) {}

  bool operator()(std::uint32_t stage, std::uint32_t first, std::uint32_t count) {
    const BlockRange &begin = parts_[first], &last = parts_[first + count - 1];
    const BlockRange range{begin.first, last.first + last.count - begin.first};
    const Blocks& model = *staged_.models.front();
    auto& [of_stage, of_kinds] = asked_;
    of_stage = stage;
    of_kinds.assign(model.kinds.size(), 0);
    for (std::uint32_t place = range.first; place < range.first + range.count; ++place) ++of_kinds[model.order[place]];
    if (const auto known = known_.find(asked_); known != known_.end()) return known->second;
    return known_[asked_] = holds(stage, range);
  }

 private:
  /// Cuts leave what follows the layers to the last stage.
  std::optional<std::uint32_t> tied_stage(const schedules::Blocks& blocks) const {
    return blocks.tied > 0 ? std::optional(s_.parallelism.pipeline - 1) : std::nullopt;
  }

  bool holds(std::uint32_t stage, const BlockRange& range) const {
    const PlannedPipeline& pipeline = *staged_.pipeline;
    for (std::size_t number = 0; number < staged_.models.size(); ++number) {
      if (!is_held_by(s_, ranks_, stage, number)) continue;
      const Scenario& kind = staged_.kind(s_, number);
      const MemoryUse use =
          stage_memory(kind, *staged_.models[number], {&range, 1}, pipeline.shape, pipeline.orders[stage],
                       pipeline.weight_versions[stage],
                       CommunicatorBuffers(kind, tied_stage(*staged_.models[number])).of_stage(stage));
      if (out_of_memory(kind, stage, use)) return false;
    }
    return true;
  }

  const Scenario& s_;
  const StagedModel& staged_;
  const std::vector<BlockRange>& parts_;
  const Ranks ranks_;
  using Asked = std::pair<std::uint32_t, std::vector<std::uint32_t>>;  ///< a stage, and how many blocks of each kind
  Asked asked_;                                                        ///< last; kept for its memory
  std::map<Asked, bool> known_;
};

}  // namespace

void cut_evenly(Scenario& s) {
  if (s.parallelism.pipeline == 1) return;
  const std::uint32_t parts = chunks(planned_shape(s, 1)), layers = static_cast<std::uint32_t>(s.model.layers);
  const std::uint32_t ends = is_network(s.model.family) ? 0 : 2;  // embedding and head may be alone
  std::vector<std::uint32_t>& cut = s.parallelism.layers_per_stage;
  cut.assign(parts, layers / parts);
  std::fill_n(cut.begin(), layers % parts, layers / parts + 1);
  if (layers < parts && layers + ends >= parts) {
    std::ranges::fill(cut, 1u);
    cut.back() = 0;
    if (layers + 1 < parts) cut.front() = 0;
  }
  s.pipeline.partition.reset();
  s.pipeline.embedding_as_layer = s.pipeline.head_as_layer = false;
}

Plan LayerCuts::cut(Scenario& s, workload::Machines& machines, SharedParts* shared) {
  if (s.parallelism.pipeline == 1) return plan(s, machines, shared);
  std::vector<std::uint32_t>& layers = s.parallelism.layers_per_stage;
  const auto [known, is_new] = by_time_.try_emplace({s.pipeline.schedule, s.pipeline.virtual_stages, weight_work(s)});
  if (is_new) {
    LayerTimes::TimedLayers* timed = times_.known(s);
    if (timed == nullptr) timed = &times_.of(s, plan(s, machines, shared));
    const std::vector<BlockRange> parts = unparted(timed->blocks);
    const auto cut = best_cut(chain_of(s, planned_shape(s, micro_batches(s)), *timed, parts));
    known->second = cut ? layers_of(*cut, timed->blocks, parts) : layers;
  }
  layers = known->second;
  Plan made = plan(s, machines, shared);
  const Shape shape = made.staged.pipeline->shape;
  if (!made.out_of_memory || shape.virtual_stages > 1) return made;
  LayerTimes::TimedLayers& timed = times_.of(s, made);
  const std::vector<BlockRange> parts = unparted(timed.blocks);
  Chain chain = chain_of(s, shape, timed, parts);
  Room room(s, made, parts);
  chain.fits = std::ref(room);
  const auto cut = best_cut(chain);
  if (!cut) return made;
  layers = layers_of(*cut, timed.blocks, parts);
  return plan(s, machines, shared);
}

}  // namespace stepcast::search
