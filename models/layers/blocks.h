#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/layers/kernels.h"
#include "models/layers/operator_list.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// A part of the model that runs, communicates and is recomputed as a whole: the embedding, one layer, the head. All
/// figures are of one tensor rank and one micro-batch.
struct Block {
  std::string_view name;
  bool layer = false;        ///< one of those that pipeline stages share out evenly
  bool extra_layer = false;  ///< a layer that no stage's share counts: of multi-token prediction, behind the last one
  bool frozen = false;       ///< no backward, since nothing up to here is trained (models/layers/frozen.h)
  Kernels forward{};
  Kernels backward{};   ///< without what is recomputed
  Kernels recompute{};  ///< what the scenario's recomputation repeats before backward
  double parameters = 0;
  double expert_parameters = 0;                                ///< of those, of experts that the expert ranks share out
  double frozen_parameters = 0, frozen_expert_parameters = 0;  ///< of those, the ones that are not trained
  double saved = 0;           ///< bytes kept from forward to backward, with the scenario's recomputation
  double saved_by_loss = 0;   ///< likewise by a head or a loss: what is never offloaded, for it goes backward first
  double for_weights = 0;     ///< bytes kept from there to its weights' gradients, where these have their own pass
  double working = 0;         ///< bytes besides while it goes backward: gradients, recomputed activations
  double output = 0;          ///< bytes it passes on, of a row of tensor ranks together
  bool output_split = false;  ///< each tensor rank has a part of them, with and without sequence parallelism
  /// As its list has them, before low precision or frozen layers change its passes: its operators, what they save, and
  /// what they read. Their kernels stand in `forward` in their order, and operator by operator in `backward`, whose
  /// operators go from the last to the first.
  std::vector<Operator> operators{};
  std::vector<SavedTensor> saved_tensors{};
  std::vector<OperatorInput> inputs{};
};

/// A model as a list of blocks, of which many are alike.
struct Blocks {
  std::vector<Block> kinds;
  std::vector<std::uint32_t> order;  ///< indices into `kinds`, in forward order
  double tied = 0;  ///< parameters of another block that are the first one's: a stage that has both keeps one copy
  std::optional<std::uint32_t> tied_place{};  ///< of that block; none: the head
  bool trains_tied = true;                    ///< these have a gradient

  const Block& at(std::uint32_t place) const { return kinds[order[place]]; }
};

std::uint32_t count_layers(const Blocks& blocks);

/// The place of the block that has a copy of the first one's parameters, if any has: of multi-token prediction's input,
/// or else the head, which is the last block that has parameters, or the last one.
std::uint32_t tied_place(const Blocks& blocks);

/// Consecutive blocks: places in Blocks::order.
struct BlockRange {
  std::uint32_t first = 0, count = 0;
};

/// What each model chunk holds.
struct ChunkLayers {
  std::vector<std::uint32_t> layers;  ///< of each chunk, in the order of the model
  std::vector<std::uint32_t> behind;  ///< the chunk of each block behind the last layer; of others than these: the last
};

/// Which stage beside the first has a copy of its first block's parameters, and gradients of it; none: nothing is tied,
/// or the first has both, or they are not trained.
std::optional<std::uint32_t> tied_stage(const Blocks& blocks, std::span<const std::vector<BlockRange>> stages);

/// So many layers in each chunk, all that follows the last one in the last chunk.
ChunkLayers with_head_last(std::vector<std::uint32_t> layers);

/// Which blocks each model chunk holds: what comes before the first layer belongs to the first chunk, what comes after
/// the last to the chunks named, all else to the chunk of the layer before it. Requires the layers to sum up to the
/// model's.
std::vector<BlockRange> cut(const Blocks& blocks, const ChunkLayers& shares);

/// The same with as many layers each. Requires chunks to divide them.
std::vector<BlockRange> cut(const Blocks& blocks, std::uint32_t chunks);

/// The places of some chunks' blocks, chunk by chunk: to be gone through, while the chunks are there.
class BlockPlaces {
 public:
  class Iterator {
   public:
    Iterator(const BlockRange* chunk, const BlockRange* last) : chunk_(chunk), last_(last) { skip_empty(); }
    std::uint32_t operator*() const { return chunk_->first + within_; }
    Iterator& operator++() {
      ++within_;
      skip_empty();
      return *this;
    }
    bool operator==(const Iterator& other) const { return chunk_ == other.chunk_ && within_ == other.within_; }

   private:
    /// On to the next chunk where this one has no more.
    void skip_empty() {
      for (; chunk_ != last_ && within_ == chunk_->count; within_ = 0) ++chunk_;
    }
    const BlockRange *chunk_, *last_;
    std::uint32_t within_ = 0;  ///< of the chunk: so many blocks before
  };

  explicit BlockPlaces(std::span<const BlockRange> chunks) : chunks_(chunks) {}
  Iterator begin() const { return {chunks_.data(), past_last()}; }
  Iterator end() const { return {past_last(), past_last()}; }

 private:
  const BlockRange* past_last() const { return chunks_.data() + chunks_.size(); }
  std::span<const BlockRange> chunks_;
};
inline BlockPlaces places(std::span<const BlockRange> chunks) { return BlockPlaces(chunks); }

/// Parameters of some chunks that one rank holds together.
double parameters(const Blocks& blocks, std::span<const BlockRange> chunks);

/// Of those, the ones of experts that the expert ranks share out.
double expert_parameters(const Blocks& blocks, std::span<const BlockRange> chunks);

/// Floating-point operations of the multiplies that one micro-batch needs: the model FLOPs of PaLM (Chowdhery et al.
/// 2022, arXiv 2204.02311, appendix B) and of Megatron-LM (Narayanan et al. 2021, arXiv 2104.04473, eq. 3 without its
/// recomputation). As there, attention counts its whole square, causal or not, and nothing is recomputed. Unlike there,
/// every multiply counts once where it is needed and not at all where it is not: the gradients that the backward pass
/// makes (none of frozen layers, none of a network's input, those alone that an operator list names), patches, pooler
/// and router, and of an expert's rows the ones with tokens, neither its padding nor what a capacity drops. Of a whole
/// model, if the blocks are not split over tensor ranks.
Flops model_flops(const Blocks& blocks);

/// Of those, what fused kernels of causal attention skip: half of the square.
Flops skipped_flops(const Blocks& blocks);

}  // namespace stepcast::schedules
