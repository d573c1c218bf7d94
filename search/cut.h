#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/units.h"

namespace stepcast::search {

/// A model as a chain of blocks, to be cut into parts that follow each other, one for each stage of a pipeline.
struct Chain {
  std::vector<std::vector<Time>>
      times;                         ///< of each kind of stage and each block: one micro-batch, forward and backward
  std::vector<std::uint32_t> kinds;  ///< of each part, in the order of the model: an index into `times`
  std::int64_t repeats = 0;          ///< how often the slowest part counts besides: with one part a stage, all
                                     ///< micro-batches but the first
  /// Whether a part can hold `count` blocks from `first` on. None: each can hold all. A part that can hold some blocks
  /// can hold fewer of them.
  std::function<bool(std::uint32_t part, std::uint32_t first, std::uint32_t count)> fits{};
};

/// What a pipeline takes that is cut so: all parts once, and the slowest one `repeats` times more (Zheng et al. 2022,
/// "Alpa", arXiv 2201.12023, eq. 2). `cut`: the blocks of each part.
Time pipeline_time(const Chain& chain, const std::vector<std::uint32_t>& cut);

/// The blocks of each part, none empty, whose pipeline takes the least time. Of several such the one whose longest part
/// is the shortest; of these the one with the least past an even share; then the one whose first parts hold more: what
/// the first stage does longer, it does while it waits for the first gradients. None: no cut fits.
///
/// Alpa's dynamic program over layers and stages (the same, sec. 5.2, eq. 3 and 4): for one longest part after the
/// other, the least sum of parts that are no longer. It begins with the shortest longest part there is, and ends where
/// a longer one costs more than any sum can save. Of stages that are alike all sums are: then one is tried.
/// O(parts blocks) times the blocks of the longest part, for each longest part that is tried.
std::optional<std::vector<std::uint32_t>> best_cut(const Chain& chain);

}  // namespace stepcast::search
