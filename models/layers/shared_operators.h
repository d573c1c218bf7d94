#pragma once

#include <cstdint>

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// A norm, and the branch before it past which the residual goes: backward adds both gradients.
void norm(Writer& w);
/// The same, which keeps its input.
void kept_norm(Writer& w);
/// A norm that no residual goes past, which keeps its input.
void plain_norm(Writer& w);
/// That of half a layer, which keeps its input, and its output for the multiply behind it, of that kind.
void norm_of_half(Writer& w, OperatorKind behind);
/// The same before two of them.
void norm_of_both_halves(Writer& w);

/// What closes each half of a layer: its second norm, the biases of its last multiply, dropout and the residual, as far
/// as there are.
/// `biases`: parameters of biases that the half has beside its matrices.
void residual(Writer& w, double biases);

/// Dropout behind the embedding, if there is any.
void embedding_dropout(Writer& w);

/// Sums the partial results that a row-split linear layer leaves.
void reduce_output(Writer& w);

/// Backward of a row-split linear layer (rows x columns on this rank): its output's gradient comes in whole or split.
void row_split_backward(Writer& w, std::int64_t inner);
/// Backward of a column-split one. With tensor_overlap the input is gathered again under the input-gradient multiply,
/// and the input's gradient is reduced under the weight-gradient multiply (Korthikanti et al. 2022, sec. 4.2.2
/// and 6.1).
void column_split_backward(Writer& w, std::int64_t columns);
/// What the ranks of a column-split one exchange for the gradient of its input.
void sum_input_gradient(PassWriter& w, bool under_next);

/// Logits over the vocabulary from `rows` rows (0: all tokens), split by columns, with a matrix that it owns unless
/// another block's logits do.
void logits(Writer& w, std::int64_t rows = 0, bool owns = true);
/// Their cross entropy, which is their cast to the loss's precision and what follows it.
void cross_entropy(Writer& w, std::int64_t rows = 0);
void cast_logits(Writer& w, std::int64_t rows = 0);
void loss_of_cast_logits(Writer& w, std::int64_t rows = 0);
/// Logits and their cross entropy in one, of whole logits on this rank: they come part by part of the tokens, as many
/// in each as make them take about what the layers' input takes, and their gradients at once, in their place. Keeps the
/// input's gradient and the matrix's, which backward multiplies by the loss's (Liger-Kernel,
/// src/liger_kernel/ops/fused_linear_cross_entropy.py).
void fused_linear_cross_entropy(Writer& w);
/// Bytes of a logit after its cast.
std::int64_t loss_element(const Scenario& scenario);

/// Look-up of a stack's tokens in the vocabulary's matrix, which it owns unless another stack's look-up does.
void look_up(Writer& w, bool owns = true);

}  // namespace stepcast::schedules
