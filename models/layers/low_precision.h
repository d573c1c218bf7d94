#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Makes the linear multiplies of a transformer's layers ones of the training's low precision, forward and backward, as
/// NVIDIA's Transformer Engine does; attention, router and all between stay as they are. What enters a multiply is
/// cast, in a kernel of its own or by the norm before it (Software::fused_quantization), once by rows and, where the
/// GPU or the scaling needs it, once by columns for the gradients; weights once a step, or for each forward pass where
/// ZeRO 3 gathers them anew. Gathers of sequence parallelism carry the casts. Sources: Transformer Engine's
/// documentation, docs/features/low_precision_training ("Performance Considerations", "NVFP4"), and for the kernels of
/// a cast to NVFP4 its NVFP4Quantizer (transformer_engine/pytorch/csrc/quantizer.cpp).
void use_low_precision(Block& layer, const Scenario& scenario);

/// Casts of a tensor that the three multiplies of a linear layer need: by rows and by columns. Blackwell reads one both
/// ways if it has one scale; 32 numbers of a row or of a column have one in MXFP8 (OCP MX specification 1.0), 16 in
/// NVFP4, whose multiplies read rows alone and whose columns are turned by a Hadamard transform first.
int low_precision_copies(const Scenario& scenario);

/// Bytes of an element in one cast. NVFP4: half a byte, and of its 16 numbers' scale, which has one, a sixteenth. The
/// scale of MXFP8's 32 numbers, 3% more, is left out.
double cast_bytes(Precision precision);

/// Elements of the weights of a layer's multiplies of low precision.
double low_precision_weights(const Block& layer);

/// Whether what backward needs of a multiply's inputs is kept as forward has cast it; else they are kept in 16 bits and
/// cast anew.
bool keeps_casts(const Scenario& scenario);

/// Bytes that a linear multiply keeps of each element of its input for its weight's gradient.
double kept_input_bytes(const Scenario& scenario);

/// Bytes that casts of a weight of a multiply of low precision take through a step, beside the parameter itself; 0
/// where none is kept, and less than that where they are the parameters.
double kept_weight_cast_bytes(const Scenario& scenario);

/// Whether fused attention multiplies in the training's precision, which is of 8 bits.
bool attends_in_eight_bits(const Scenario& scenario);

}  // namespace stepcast::schedules
