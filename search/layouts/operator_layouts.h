#pragma once

#include <array>
#include <string>
#include <vector>

#include "search/layouts/layout.h"
#include "search/layouts/layout_unit.h"

namespace stepcast::search {

/// How the devices along an axis share a unit's work.
enum class WorkSplit : std::uint8_t {
  nothing,  ///< all do the same
  samples,
  tokens,            ///< of each sample
  columns,           ///< of the weight: the gradients of what it reads are summed
  gathered_columns,  ///< the same of tokens that are split, gathered before, their gradients scattered after
  inner,             ///< rows of the weight: what it makes is summed
  scattered_inner,   ///< the same, each device keeping the sum of its tokens
  features,          ///< of which each device has the same of what it reads and makes
  experts
};

/// One layout of a unit, and what it takes on a device.
struct UnitLayout {
  std::array<WorkSplit, kMeshAxes> work{};
  TensorLayout in{}, out{};
  Time forward{}, backward{};  ///< of a micro-batch, traffic included, without what is recomputed
  Time recomputed{};           ///< of a micro-batch, in its backward pass
  Time once{};                 ///< a step: sums of gradients, and the update
  double kept = 0;             ///< bytes of parameters, gradients and optimizer state
  double saved = 0;            ///< bytes of a micro-batch from its forward to its backward pass
  double working = 0;          ///< bytes while its block is at work
};

/// Whatever all units of a block have in common.
struct BlockContext {
  const schedules::Scenario& scenario;  ///< unsplit: of which the block is
  const schedules::Block& block;
  bool splits_tokens = false;  ///< whether tokens of a sample may be shared
  double message = 0;          ///< bytes of gradients of unlike operators that are summed together
};

/// Every layout of a unit that its sizes allow, but for those that another one with the same tensors betters in
/// everything. Kernels take what they take in forecasts (models/cost), collectives what the machine says.
std::vector<UnitLayout> unit_layouts(const BlockContext& context, const LayoutUnit& unit, const Mesh& mesh);

/// "samples over 4, columns over 2".
std::string layout_text(const UnitLayout& layout, const LayoutUnit& unit, MeshShape shape);

}  // namespace stepcast::search
