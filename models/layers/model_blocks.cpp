#include "models/layers/model_blocks.h"

#include <map>

#include "models/layers/collective_copies.h"
#include "models/layers/low_precision.h"
#include "models/layers/network_blocks.h"
#include "models/layers/rowwise_scaling.h"
#include "models/layers/sequence_parts.h"
#include "models/layers/transformer.h"

namespace stepcast::schedules {
namespace {

/// The first and last layers as they are without low precision, where the training asks for it.
void keep_bf16_layers(Blocks& blocks, const Scenario& s) {
  const std::uint32_t layers = count_layers(blocks);
  const auto first = static_cast<std::uint32_t>(s.training.bf16_layers_at_start),
             last = static_cast<std::uint32_t>(s.training.bf16_layers_at_end);
  if (first + last == 0) return;
  Scenario bf16 = s;
  bf16.training.precision = beside_low_precision(s.training.precision);
  const Blocks high = transformer_blocks(bf16);
  std::map<std::uint32_t, std::uint32_t> known;  // kinds of those among all
  std::uint32_t layer = 0;
  for (std::size_t place = 0; place < blocks.order.size(); ++place) {
    if (!blocks.kinds[blocks.order[place]].layer) continue;
    const bool kept = layer < first || layer >= layers - last;
    ++layer;
    if (!kept) continue;
    const auto [kind, fresh] = known.try_emplace(high.order[place], static_cast<std::uint32_t>(blocks.kinds.size()));
    if (fresh) blocks.kinds.push_back(high.kinds[high.order[place]]);
    blocks.order[place] = kind->second;
  }
}

/// With what low precision and sequence parallelism add to its passes.
Blocks whole_transformer(const Scenario& scenario) {
  Blocks out = transformer_blocks(scenario);
  if (is_low_precision(scenario.training.precision)) {
    const auto use = scenario.training.scaling == Scaling::rowwise ? use_rowwise_scaling : use_low_precision;
    for (Block& block : out.kinds)
      if (block.layer || block.extra_layer) use(block, scenario);
    keep_bf16_layers(out, scenario);
  }
  for (Block& block : out.kinds) add_sequence_parts(block, scenario);
  return out;
}

}  // namespace

Blocks blocks(const Scenario& scenario) {
  Blocks out = is_network(scenario.model.family) ? network_blocks(scenario) : whole_transformer(scenario);
  add_collective_copies(out, scenario);
  return out;
}

}  // namespace stepcast::schedules
