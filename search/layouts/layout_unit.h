#pragma once

#include <cstdint>
#include <vector>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::search {

/// What can be split of operators, and what that costs.
enum class UnitKind : std::uint8_t {
  multiply,     ///< of tokens with a weight; of experts' weights, one for each
  convolution,  ///< of images with a weight
  attention,    ///< its core: each sample's heads by themselves
  embedding,    ///< look-up
  by_token,     ///< needs all features of a token: norms, routers
  elementwise   ///< everything else
};

/// Operators that have one layout: one, and what follows it elementwise and has no other reader (Zheng et al. 2022,
/// "Alpa", arXiv 2201.12023, sec. 4.2, merges such operators likewise). Of all samples of a micro-batch, unsplit.
struct LayoutUnit {
  UnitKind kind{};
  std::uint32_t first = 0, count = 0;  ///< its operators: places in Block::operators
  double in_bytes = 0;                 ///< of the tensor that it reads
  double made_bytes = 0;               ///< that its first operator makes
  double out_bytes = 0;                ///< that its last one makes
  /// Into how many equal parts the features of what it reads and makes can be split at most: heads, columns, channels.
  std::int64_t in_features = 1, out_features = 1;
  std::int64_t experts = 1;  ///< multiplies that share a batch
  std::int64_t groups = 1;   ///< of a convolution's channels
};

/// That one unit reads what another one makes.
struct UnitInput {
  std::uint32_t reader = 0, of = 0;
};

/// A block's units in forward order.
struct BlockUnits {
  std::vector<LayoutUnit> units;
  std::vector<UnitInput> inputs;
  std::vector<std::uint32_t> entries;  ///< units that read the block's input
};

/// The tensor between two blocks.
struct BlockBoundary {
  double bytes = 0;
  std::int64_t features = 1;
};

/// The units of a block of an unsplit model behind `input`.
BlockUnits layout_units(const schedules::Block& block, const schedules::Scenario& scenario, BlockBoundary input);

/// What it passes on.
BlockBoundary result_of(const BlockUnits& units);

/// The kernels of one operator of a block.
std::span<const schedules::Kernel> forward_of(const schedules::Block& block, std::uint32_t place);
std::span<const schedules::Kernel> backward_of(const schedules::Block& block, std::uint32_t place);
std::span<const schedules::SavedTensor> saved_of(const schedules::Block& block, std::uint32_t place);

}  // namespace stepcast::search
