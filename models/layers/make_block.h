#pragma once

#include <string_view>

#include "models/layers/blocks.h"
#include "models/layers/operator_list.h"

namespace stepcast::schedules {

/// What a list of operators is in time and memory: what stands before or behind the layers, which is never recomputed;
/// and a layer, with the scenario's recomputation. `output`: bytes that it passes on.
Block part_block(std::string_view name, OperatorList list, double output = 0);
/// The same of what ends in the loss. `for_weights`: bytes that its weights' gradients are made of.
Block loss_block(std::string_view name, OperatorList list, double for_weights);
Block layer_block(const Scenario& scenario, std::string_view name, OperatorList list, double output);

/// What the scenario's recomputation repeats of a layer, by module; nothing of that where it repeats all or none.
RecomputedModules repeated_modules(const Scenario& scenario);

}  // namespace stepcast::schedules
