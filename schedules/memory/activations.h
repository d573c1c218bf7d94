#pragma once

#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Activation bytes that one layer keeps for the backward pass, for one micro-batch on one tensor rank.
/// gpt, unfused attention: sbh(10 + 24/t + 5as/ht), with sequence parallelism sbh/t (34 + 5as/h), selective
/// recomputation drops the last term, full keeps the layer's input alone, 2sbh: Korthikanti et al. 2022 (arXiv
/// 2205.05198), eqs. 1 to 6 and table 2. Built from the tensors each operator saves, so other families and flash
/// attention follow from the same list.
double saved_activation_bytes(const Scenario& scenario, Recompute recompute);

}  // namespace stepcast::schedules
