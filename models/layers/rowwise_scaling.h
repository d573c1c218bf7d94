#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Makes the linear multiplies of a transformer's layers fp8 ones with a scale for each row of what enters them, as
/// torchao's recipe `rowwise` and torchtitan run them (Scaling::rowwise). A scale holds along what a multiply sums
/// over, so the casts of the three multiplies of a linear layer differ: its input and its output gradient are cast by
/// rows, and once more by columns for the weight's gradient, the weight for either gradient that it enters. Nothing is
/// gathered in 8 bits: tensor ranks and ZeRO gather bf16, and every rank casts all that it has gathered, so a cast
/// stands between a gather and its multiply. Forward multiplies by CUTLASS, whose kernel scales what it writes;
/// backward by cuBLAS, which knows one scale a tensor, and a kernel behind each multiply scales its result.
///
/// Sources: github.com/pytorch/ao @36027d8, torchao/float8/float8_linear.py and float8_ops.py (what is cast, when, and
/// which library multiplies), config.py (float8 all-gathers ask for one scale a tensor), and for what the kernels move
/// torchao/testing/training/roofline_utils.py, get_tensor_memory_traffic_ovhd_s; github.com/pytorch/torchtitan
/// @820504e, torchtitan/models/llama3/parallelize_llama.py (tensor ranks gather in high precision); its issue
/// pytorch/pytorch 149990 (such gathers do not run beside their multiplies).
void use_rowwise_scaling(Block& layer, const Scenario& scenario);

}  // namespace stepcast::schedules
