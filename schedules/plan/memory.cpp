#include "schedules/plan/memory.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <variant>

#include "models/layers/frozen.h"
#include "models/layers/low_precision.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/pipeline/placement.h"
#include "schedules/plan/communicators.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

Bytes bytes(double n) { return whole_bytes(n); }

bool keeps_master_copy(const Scenario& s) {
  return s.software.master_weights && element_bytes(s.training.precision) == 2;
}

PeakActivations peak_activations(const ActivationSizes& sizes, const Shape& shape, const StageOrder& order) {
  HeldActivations held(shape, sizes);
  PeakActivations most;
  double most_held = 0;
  const auto see = [&] {
    if (sizes.stays) most.on_gpu = std::max(most.on_gpu, held.bytes());
    most_held = std::max(most_held, held.saved() + held.besides());
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Pass& pass = order[i];
    const bool pair = pass.with_next;
    pair ? held.begin_together(pass.virtual_stage, order[i + 1]) : held.begin(pass.kind, pass.virtual_stage);
    most.most_saved = std::max(most.most_saved, held.saved());
    see();
    pair ? held.end_together(pass.virtual_stage, order[++i]) : held.end(pass.kind, pass.virtual_stage);
    if (shape.splits_backward) see();  // else no pass leaves more than there was while it ran
  }
  if (!sizes.stays) most.on_gpu = bytes(most_held);  // nothing is offloaded
  return most;
}

/// Bytes a parameter of gradients: those that backward holds whole, of the block at work, and handed over to be summed,
/// which stays until the next block's are; and those that it leaves, where there were none before.
struct BlockGradients {
  double at_work = 0, handed_over = 0, left = 0;
};

BlockGradients block_gradients(const Scenario& s) {
  if (!s.software.block_gradients || s.data_parallel.zero < 2 || weight_copies(s.parallelism) == 1) return {};
  return {d(element_bytes(s.training.precision)), d(element_bytes(gradient_precision(s)))};
}

/// Whether a backward pass finds no gradients: it is the only one of its step, and what there was has been let go of.
bool makes_all_gradients(const Scenario& s, std::span<const BlockRange> chunks) {
  return !s.software.gradients_persist && chunks.size() == 1 && micro_batches(s) == 1;
}

/// Of one chunk. Backward goes from the last block to the first, and what a block keeps is gone when it has been.
ChunkActivations chunk_activations(const Blocks& blocks, const BlockRange& chunk, const BlockGradients& gradients) {
  ChunkActivations out;
  double gone = 0, made = 0;
  double before = 0, ends = 0, left = 0;  // of gradients: those handed over, of embedding and head, and left behind
  for (std::uint32_t i = chunk.count; i-- > 0;) {
    const Block& block = blocks.at(chunk.first + i);
    // A layer's tensors go as its gradients come; these are whole when they are handed over. Those of embedding and
    // head are handed over together, after all others.
    const double parameters = trained_parameters(block), own = parameters * gradients.at_work,
                 handed_over = parameters * gradients.handed_over;
    if (!block.layer) ends += own;
    const double working =
        left + ends + (block.layer ? std::max(block.working + before, own + handed_over) : block.working + before);
    if (block.layer) before = handed_over;
    left += parameters * gradients.left;
    out.backward = std::max(out.backward, working - gone);
    out.split_backward = std::max(out.split_backward, made - gone + working);
    gone += block.saved + block.saved_by_loss;
    made += block.for_weights;
    out.saved += block.saved;
    out.most_of_block = std::max(out.most_of_block, block.saved);
    out.saved_by_loss += block.saved_by_loss;
  }
  out.for_weights = made;
  out.backward = std::max(out.backward, left - gone);
  return out;
}

/// The largest value of a member, or of what a function makes of one, over the blocks of a stage.
template <class Of>
double largest(const Blocks& blocks, std::span<const BlockRange> chunks, const Of& of) {
  double most = 0;
  for (const std::uint32_t place : places(chunks)) most = std::max(most, std::invoke(of, blocks.at(place)));
  return most;
}

/// Elements of the largest weight of a block, which is unpacked to be multiplied by.
double unpacked_elements(const Block& block) {
  double most = 0;
  for (const Kernel& op : block.forward)
    if (const auto* gemm = std::get_if<Gemm>(&op); block.layer && gemm != nullptr && gemm->linear)
      most = std::max(most, d(gemm->shape.k) * d(gemm->shape.n));
  return most;
}

/// Elements of the largest weight among `all` parameters of a block: of its linear layers, experts' together; of other
/// blocks all.
double largest_weight(const Block& block, double all) {
  double most = 0;
  for (const Kernel& op : block.forward)
    if (const auto* gemm = std::get_if<Gemm>(&op); block.layer && gemm != nullptr && gemm->linear)
      most = std::max(most, d(gemm->shape.k) * d(gemm->shape.n) * d(gemm->shape.batch));
  return most > 0 ? std::min(most, all) : all;
}

/// ZeRO 3: elements that are gathered at a time: the block at work and the next, or fewer.
double gathered(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks) {
  const auto stored = [&](const Block& block) { return stored_parameters(s.training, block); };
  const double two_blocks = 2 * largest(blocks, chunks, stored);
  if (!s.software.live_parameters) return two_blocks;
  const auto at_work = [&](const Block& block) { return largest_weight(block, stored(block)); };
  return std::min(two_blocks, *s.software.live_parameters + largest(blocks, chunks, at_work));
}

/// Elements of one gradient for each shape that the weights of some chunks have.
double one_gradient_per_shape(const Blocks& blocks, std::span<const BlockRange> chunks) {
  std::set<std::pair<std::int64_t, std::int64_t>> shapes;
  for (const std::uint32_t place : places(chunks)) {
    for (const Kernel& op : blocks.at(place).backward) {
      const auto* gemm = std::get_if<Gemm>(&op);
      if (gemm != nullptr && gemm->of_weights) shapes.emplace(gemm->shape.m, gemm->shape.n);
    }
  }
  double elements = 0;
  for (const auto& [rows, columns] : shapes) elements += d(rows) * d(columns);
  return elements;
}

/// Elements of all weights of some chunks of which casts are kept, and the most of one block.
std::pair<double, double> low_precision_elements(const Scenario& s, const Blocks& blocks,
                                                 std::span<const BlockRange> chunks) {
  if (!keeps_casts(s)) return {};
  double all = 0, most = 0;
  for (const std::uint32_t place : places(chunks)) {
    const double here = low_precision_weights(blocks.at(place));
    all += here;
    most = std::max(most, here);
  }
  return {all, most};
}

/// Whether the chunks of two stages are made of the same blocks.
bool hold_the_same(const Blocks& blocks, std::span<const BlockRange> a, std::span<const BlockRange> b) {
  return std::ranges::equal(a, b, [&](const BlockRange& one, const BlockRange& other) {
    const auto of = [&](const BlockRange& range) { return std::span(blocks.order).subspan(range.first, range.count); };
    return std::ranges::equal(of(one), of(other));
  });
}

}  // namespace

Bytes ActivationSizes::leaving(Bytes kept) const {
  return stays ? bytes(static_cast<double>(kept.value) * offloaded) : Bytes{};
}

namespace {

ActivationSizes sizes_with(const BlockGradients& gradients, const Scenario& s, const Blocks& blocks,
                           std::span<const BlockRange> chunks) {
  ActivationSizes sizes;
  const double factor = 1 + s.software.activation_overhead;
  for (const BlockRange& chunk : chunks) {
    ChunkActivations& of_chunk = sizes.chunks.emplace_back(chunk_activations(blocks, chunk, gradients));
    for (double* const part : {&of_chunk.saved, &of_chunk.most_of_block, &of_chunk.saved_by_loss, &of_chunk.for_weights,
                               &of_chunk.backward, &of_chunk.split_backward})
      *part *= factor;
  }
  if (s.offload.activations != Tier::gpu) {
    sizes.stays = bytes(2 * largest(blocks, chunks, &Block::saved));
    sizes.offloaded = offloaded_activations(s);
  }
  return sizes;
}

}  // namespace

ActivationSizes activation_sizes(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks) {
  return sizes_with(block_gradients(s), s, blocks, chunks);
}

void HeldActivations::begin(PassKind kind, std::uint32_t virtual_stage) {
  const ChunkActivations& chunk = sizes_.chunks[virtual_stage];
  if (kind == PassKind::forward) {
    saved_ += chunk.saved;
    besides_ += chunk.saved_by_loss;
  } else if (kind != PassKind::weight) {
    at_work_ = is_last(shape_, kind) ? chunk.backward : chunk.split_backward;
  }
}

void HeldActivations::end(PassKind kind, std::uint32_t virtual_stage) {
  const ChunkActivations& chunk = sizes_.chunks[virtual_stage];
  at_work_ = 0;
  if (kind == PassKind::weight) {
    besides_ -= chunk.for_weights;
  } else if (kind != PassKind::forward) {
    saved_ -= chunk.saved;
    besides_ -= chunk.saved_by_loss;
    if (!is_last(shape_, kind)) besides_ += chunk.for_weights;
  }
}

void HeldActivations::begin_together(std::uint32_t forward, const Pass& backward) {
  const ChunkActivations& comes = sizes_.chunks[forward];
  const double goes = sizes_.chunks[backward.virtual_stage].saved;
  begin(backward.kind, backward.virtual_stage);
  ahead_ = std::max(0.0, comes.saved - goes) + comes.most_of_block;
  saved_ += ahead_;
}

void HeldActivations::end_together(std::uint32_t forward, const Pass& backward) {
  saved_ -= std::exchange(ahead_, 0);
  end(backward.kind, backward.virtual_stage);
  begin(PassKind::forward, forward);
}

Bytes HeldActivations::bytes() const {
  const Bytes all = whole_bytes(saved_ + besides()), off = sizes_.leaving(whole_bytes(saved_));
  return all - off + std::min(off, sizes_.stays.value_or(Bytes{}));
}

double optimizer_bytes(const Scenario& s) {
  if (s.training.optimizer == Optimizer::none) return 0;
  return (keeps_master_copy(s) ? 4 : 0) + moment_bytes(s.software.moment_precision) * moments(s.training.optimizer);
}

namespace {

/// Moves what is offloaded. `updated`: parameters that the rank updates, whose gradients the host's optimizer needs. Of
/// what comes block by block, the block at work and the next stay; what ZeRO 3 gathers of them is among the buffers.
void offload(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks, Bytes activations_leaving,
             double updated, MemoryUse& use) {
  const double e = d(element_bytes(s.training.precision));
  const auto move = [&](Tier tier, Bytes Offloaded::*kind, Bytes& from, Bytes stays) {
    if (tier == Tier::gpu) return;
    Offloaded& there = tier == Tier::host ? use.host : use.nvme;
    there.*kind += from;
    from = stays;
  };
  const auto own = [&](const Block& block) { return sharded_from(3, s, stored_held(s, block), 1); };
  const auto stored = [&](const Block& block) { return stored_parameters(s.training, block); };
  const Bytes two_blocks = bytes(2 * largest(blocks, chunks, stored) * e);
  const Bytes two_parts = bytes(2 * largest(blocks, chunks, own) * e);
  move(s.offload.parameters, &Offloaded::parameters, use.parameters, std::min(use.parameters, two_parts));
  move(s.offload.activations, &Offloaded::activations, activations_leaving, {});
  move(s.offload.optimizer, &Offloaded::optimizer, use.optimizer, {});
  if (s.offload.optimizer == Tier::gpu) return;
  use.host.gradients += bytes(updated * kHostGradientBytes);
  // With ZeRO 2 and 3 gradients leave as they come (ZeRO-Offload, sec. 4.1), always to the host.
  if (s.data_parallel.zero >= 2) use.gradients = std::min(use.gradients, two_blocks);
}

/// What one GPU of a stage holds in whatever order its passes run: activations not counted, nothing offloaded yet.
struct StageContents {
  MemoryUse still;
  ActivationSizes activations;
  /// Those with the gradients that backward makes, where there are none before it; none: there are.
  std::optional<ActivationSizes> with_gradients;
  double updated = 0;     ///< parameters that the rank updates
  double one_update = 0;  ///< and of these, what one update of the optimizer takes at once
};

StageContents stage_contents(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks,
                             const Shape& shape, std::uint32_t weight_versions) {
  const Held stored = stored_held(s, blocks, chunks), trained = trained_held(blocks, chunks);
  const double e = d(element_bytes(s.training.precision)), g = d(element_bytes(s.software.main_gradient_precision));
  const int zero = s.data_parallel.zero;
  const auto kept = [&](Held parameters, int from_zero) {
    return sharded_from(from_zero, s, parameters, copies(shape));
  };
  StageContents contents;
  MemoryUse& use = contents.still;
  // Of what is not trained there is one version.
  use.parameters = bytes(begins_frozen(s.training) ? (kept(stored, 3) + (weight_versions - 1) * kept(trained, 3)) * e
                                                   : weight_versions * kept(stored, 3) * e);
  // Casts of weights are kept through the step; where these are the parameters, there are no others.
  const auto [cast, most_cast] = low_precision_elements(s, blocks, chunks);
  const double of_cast = kept_weight_cast_bytes(s);
  if (zero < 3) use.parameters += bytes((trains_adapters(s.training) ? 1 : weight_versions) * cast * of_cast);
  use.gradients = bytes((sums_each_micro_batch(s) ? sharded(s, trained, copies(shape)) : trained.all) * g);
  contents.updated = contents.one_update = kept(trained, 1);
  use.optimizer = bytes(contents.updated * optimizer_bytes(s));
  contents.activations = activation_sizes(s, blocks, chunks);
  if (makes_all_gradients(s, chunks) && trained.all > 0) {
    BlockGradients gradients = block_gradients(s);
    gradients.left = d(use.gradients.value) / trained.all;
    contents.with_gradients = sizes_with(gradients, s, blocks, chunks);
  }
  use.reserve = s.software.memory_reserve;

  double buffers = zero >= 3 ? most_cast * of_cast : 0;
  if (zero >= 3) buffers += gathered(s, blocks, chunks) * e;
  if (keeps_four_bits(s.training)) buffers += largest(blocks, chunks, unpacked_elements) * e;
  if (zero > 0) buffers += s.software.bucket_copies * static_cast<double>(bucket(s).value);
  const bool summed = weight_copies(s.parallelism) * copies(shape) > 1;
  if (zero == 0 && summed && !s.software.gradient_as_bucket_view) buffers += trained.all * g;
  if (s.data_parallel.compression.any()) buffers += trained.all * g;  // what was left out, for the next step
  if (s.parallelism.pipeline > 1) {                                   // one activation and one gradient in transfer
    buffers += 2 * largest(blocks, chunks, &Block::output) / (s.parallelism.sequence ? s.parallelism.tensor : 1);
  }
  if (s.software.autograd_gradients && zero < 2) use.gradients += bytes(trained.all * e);
  if (s.training.update_in_backward && trained.all > 0) {
    // A weight has no gradient but at its own update.
    const auto at_work = [](const Block& block) { return largest_weight(block, trained_parameters(block)); };
    const double share = largest(blocks, chunks, at_work) / trained.all;
    use.gradients = bytes(d(use.gradients.value) * share);
    contents.one_update *= share;
  }
  if (s.software.dummy_weight_gradients) buffers += one_gradient_per_shape(blocks, chunks) * e;
  use.buffers = bytes(buffers);
  return contents;
}

/// `contents`: of these chunks, or of others with the same blocks; `peak_of`: the peak of activations of such sizes;
/// `communicators`: what NCCL takes. The update has all gradients and no activations: what it takes more than the
/// passes is counted with the buffers.
template <class PeakOf>
MemoryUse at_peak(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks,
                  const StageContents& contents, const PeakOf& peak_of, Bytes communicators) {
  MemoryUse use = contents.still;
  use.communicators = communicators;
  const PeakActivations most = peak_of(contents.activations);
  use.activations = most.on_gpu;
  const Bytes all_gradients = use.gradients;
  if (contents.with_gradients)
    use.gradients = std::min(use.gradients, peak_of(*contents.with_gradients).on_gpu - most.on_gpu);
  if (s.offload.optimizer == Tier::gpu && s.training.optimizer != Optimizer::none) {
    const Bytes update = all_gradients + bytes(contents.one_update * s.software.optimizer_temporaries);
    use.buffers += std::max(Bytes{}, update - use.gradients - use.activations);
  }
  if (s.offload.any())
    offload(s, blocks, chunks, contents.activations.leaving(bytes(most.most_saved)), contents.updated, use);
  return use;
}

}  // namespace

MemoryUse stage_memory(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks, const Shape& shape,
                       const StageOrder& order, std::uint32_t weight_versions, Bytes communicators) {
  const StageContents contents = stage_contents(s, blocks, chunks, shape, weight_versions);
  const auto peak_of = [&](const ActivationSizes& sizes) { return peak_activations(sizes, shape, order); };
  return at_peak(s, blocks, chunks, contents, peak_of, communicators);
}

PeakActivations SavedPeaks::of(std::uint32_t stage, const ActivationSizes& sizes, const Shape& shape,
                               const StageOrder& order) {
  if (known_.size() <= stage) known_.resize(stage + 1);
  for (const Peak& known : known_[stage])
    if (known.sizes == sizes) return known.most;
  return known_[stage].emplace_back(Peak{sizes, peak_activations(sizes, shape, order)}).most;
}

std::vector<MemoryUse> stage_memories(const Scenario& s, const Blocks& blocks,
                                      std::span<const std::vector<BlockRange>> chunks, const PlannedPipeline& pipeline,
                                      SavedPeaks* peaks) {
  std::vector<MemoryUse> stages;
  SavedPeaks own;
  SavedPeaks& known = peaks != nullptr ? *peaks : own;
  StageContents contents;
  const CommunicatorBuffers communicators(s, copies(pipeline.shape) == 1 ? tied_stage(blocks, chunks) : std::nullopt);
  for (std::uint32_t stage = 0; stage < chunks.size(); ++stage) {
    const std::uint32_t versions = pipeline.weight_versions[stage];
    const bool like_the_one_before = stage > 0 && versions == pipeline.weight_versions[stage - 1] &&
                                     hold_the_same(blocks, chunks[stage], chunks[stage - 1]);
    if (!like_the_one_before) contents = stage_contents(s, blocks, chunks[stage], pipeline.shape, versions);
    const auto peak_of = [&](const ActivationSizes& sizes) {
      return known.of(stage, sizes, pipeline.shape, pipeline.orders[stage]);
    };
    stages.push_back(at_peak(s, blocks, chunks[stage], contents, peak_of, communicators.of_stage(stage)));
  }
  return stages;
}

}  // namespace stepcast::schedules
