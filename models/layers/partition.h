#pragma once

#include <cstdint>
#include <string>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// How `chunks` model chunks share out a model of `blocks`: as the scenario says, or else by its partition. Requires
/// partition_problem() to be empty.
ChunkLayers share_out(const Scenario& scenario, const Blocks& blocks, std::uint32_t chunks);

/// Why so many chunks cannot share out the model by the scenario's partition; empty: they can. Says nothing of
/// parallelism.layers_per_stage.
std::string partition_problem(const Scenario& scenario, std::uint32_t chunks);

/// Whether parallelism.layers_per_stage counts layers of multi-token prediction too, and so says where they stand. Else
/// they stand on the last stage.
bool places_mtp_layers(const Scenario& scenario);

/// Whether the cast of the logits and the loss are blocks of their own, which may stand on other stages than the head.
bool has_loss_block(const Scenario& scenario);

}  // namespace stepcast::schedules
