#include "models/layers/make_block.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/layers/early_stop.h"
#include "models/layers/recompute_by_operator.h"
#include "models/layers/stack_sizes.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

/// What the scenario's recomputation makes of a layer.
Recomputation recomputation(const Scenario& s, const OperatorList& list) {
  const RecomputedModules modules = repeated_modules(s);
  switch (s.recompute) {
    case Recompute::none:
    case Recompute::selective:
      return {.kept = saved_bytes(list, modules), .repeated = repeated_kernels(list, modules)};
    case Recompute::full:
      break;
    case Recompute::by_operator:
      return recompute_by_operator(s, list);
  }
  const auto end = list.forward.begin() + static_cast<std::ptrdiff_t>(end_of_repetition(s, list.forward));
  return {.kept = input_bytes(list), .repeated = {list.forward.begin(), end}};
}

/// What a block keeps of its list as it is.
void take(Block& block, OperatorList list) {
  block.forward = std::move(list.forward);
  block.operators = std::move(list.operators);
  block.saved_tensors = std::move(list.saved);
  block.inputs = std::move(list.inputs);
}

}  // namespace

Block part_block(std::string_view name, OperatorList list, double output) {
  Block block{.name = name,
              .parameters = parameters(list),
              .frozen_parameters = frozen_parameters(list),
              .saved = saved_bytes(list),
              .output = output};
  block.for_weights = block.saved;
  block.backward = backward_pass(list);
  take(block, std::move(list));
  return block;
}

Block loss_block(std::string_view name, OperatorList list, double for_weights) {
  Block block = part_block(name, std::move(list));
  block.for_weights = for_weights;
  block.saved_by_loss = std::exchange(block.saved, 0);
  return block;
}

RecomputedModules repeated_modules(const Scenario& s) {
  RecomputedModules repeated = recomputed_modules(s, s.recompute);
  repeated.attention_core = repeats_attention_core(s, s.recompute);
  return repeated;
}

Block layer_block(const Scenario& s, std::string_view name, OperatorList list, double output) {
  Block layer{.name = name,
              .layer = true,
              .parameters = parameters(list),
              .expert_parameters = expert_parameters(list),
              .frozen_parameters = frozen_parameters(list),
              .frozen_expert_parameters = frozen_expert_parameters(list),
              .output = output};
  Recomputation again = recomputation(s, list);
  layer.saved = again.kept;
  if (shares_out_inputs(s)) layer.saved /= s.parallelism.tensor;
  // What the multiplies read and the gradients of what they made, about as much as backward needs but for the scores,
  // which no weight has a part in: Qi et al. (arXiv 2401.10241, sec. 2.3) count 32 sbh of 34 sbh and the scores.
  layer.for_weights = saved_bytes(list, {.attention_core = true});
  // While the layer goes backward all is there that it would have kept, of which it has kept what backward reads.
  layer.working = std::max(0.0, saved_bytes(list) - (layer.saved - again.unread)) + gradient_bytes(list);
  // A weight that ranks in depth share is there whole while it is at work, and so is its gradient.
  if (grid(s.parallelism).depth > 1)
    layer.working += 2 * largest_weight(list) * static_cast<double>(element_bytes(s.training.precision));
  layer.recompute = std::move(again.repeated);
  if (shares_out_inputs(s))
    layer.recompute.insert(layer.recompute.begin(),
                           TensorCollective{OperatorKind::checkpoint_gather, collectives::Operation::all_gather,
                                            whole_bytes(input_bytes(list))});
  layer.backward = backward_pass(list);
  take(layer, std::move(list));
  return layer;
}

}  // namespace stepcast::schedules
