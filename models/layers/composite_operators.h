#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Kernels of operators for which eager PyTorch has no kernel of their own (software.composite_operators), over
/// `elements` numbers of the stack's type: what their reads and writes move, forward and backward.

/// RMSNorm (at::rms_norm until release 2.8, torchtitan's and Transformers' own modules): to fp32, square, mean, epsilon
/// and root, product, back, times the weight; backward the gradient of each.
void composite_rms_norm(Writer& w, double elements);
/// What it keeps for backward beside what a kernel of its own would, the input: that in fp32, of which the square and
/// the product have both need; what the weight multiplies takes the place of the input itself.
void keep_composite_rms_norm(Writer& w, double elements);

/// Queries and keys that turn by their places in fp32, as complex numbers: a cast, a product and a cast back for each
/// of the two (torchtitan's apply_rotary_emb; Transformers' six kernels in 16 bits move about as much).
void composite_rotation(Writer& w, double elements);

}  // namespace stepcast::schedules
