#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Adds the kernels that traffic of sequence parallelism needs besides, in the stacks that need any.
///
/// Where a micro-batch is a tensor of batch x sequence x hidden (Software::batch_first), collectives bring and take
/// what tensor ranks have of the sequence rank by rank. So all that was gathered is copied behind an all_gather, and
/// all that is to be summed before a reduce_scatter: read and written once. Source: PyTorch 2.6, torch/distributed/
/// _functional_collectives.py, all_gather_tensor and reduce_scatter_tensor of a dimension that is not the first.
///
/// PyTorch's asynchronous tensor parallelism (Software::micro_pipeline) copies nothing where traffic goes part by part
/// beside its multiply: that reads and writes parts. But a rank first copies its own part to where the others fetch it,
/// and sums what all of them sent last. Source: PyTorch 2.6, torch/distributed/_symmetric_memory,
/// _pipelined_all_gather_and_consume and _fused_matmul_reduce_scatter_impl. Only a layer's traffic goes so, as compiled
/// layers are what torch/_inductor/fx_passes/micro_pipeline_tp.py sees.
void add_sequence_parts(Block& block, const Scenario& scenario);

}  // namespace stepcast::schedules
