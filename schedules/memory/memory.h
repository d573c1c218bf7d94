#pragma once

#include <cstdint>

#include "schedules/forecast.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Activation bytes that one layer keeps for the backward pass, for one micro-batch on one tensor rank.
/// gpt, unfused attention: sbh(10 + 24/t + 5as/ht), with sequence parallelism sbh/t (34 + 5as/h), selective
/// recomputation drops the last term, full keeps the layer's input alone, 2sbh: Korthikanti et al. 2022 (arXiv
/// 2205.05198), eqs. 1 to 6 and table 2. Built from the tensors each operator saves, so other families and flash
/// attention follow from the same list.
double saved_activation_bytes(const Scenario& scenario, Recompute recompute);

/// What one pipeline stage holds.
struct StageShape {
  std::int64_t layers = 0;
  bool embedding = false, head = false;
  std::uint32_t in_flight = 0;  ///< micro-batches of one virtual stage each whose activations are held at once, at most
};

/// Parameters of a stage on one tensor rank: matrices split, norms and row-split biases whole.
double stage_parameters(const Scenario& scenario, const StageShape& stage);

/// One GPU's memory at the stage's peak.
MemoryUse stage_memory(const Scenario& scenario, const StageShape& stage);

/// How the peak compares with the GPU: nothing where it fits.
std::optional<OutOfMemory> out_of_memory(const Scenario& scenario, std::uint32_t stage, const MemoryUse& use);

}  // namespace stepcast::schedules
