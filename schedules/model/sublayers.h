#pragma once

#include <cstdint>
#include <string_view>

#include "schedules/model/writer.h"

namespace stepcast::schedules {

void norm_forward(Writer& w);
void norm_backward(Writer& w);

/// What closes each half of a layer: the biases of its last multiply, dropout and the residual, as far as there are.
void residual_forward(Writer& w);
void residual_backward(Writer& w);

/// A column-split linear layer needs the whole sequence; a row-split one leaves partial sums.
void gather_input(Writer& w);
void reduce_output(Writer& w);

/// Backward of a row-split linear layer (rows x columns on this rank): its output's gradient comes in whole or split.
void row_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t inner);
/// Backward of a column-split one. With tensor_overlap the input is gathered again under the input-gradient multiply,
/// and the input's gradient is reduced under the weight-gradient multiply (Korthikanti et al. 2022, sec. 4.2.2
/// and 6.1).
void column_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t columns);
/// What the ranks of a column-split one exchange for the gradient of its input.
void sum_input_gradient(Writer& w, bool under_next);

/// Logits over the vocabulary from `rows` rows (0: all tokens) and their cross entropy.
void logits_forward(Writer& w, std::int64_t rows = 0);
void logits_loss_backward(Writer& w, std::int64_t rows = 0);
/// Bytes there while they are at work: the logits, and in fp32 for the loss.
double logits_working(const Scenario& scenario, const StackSizes& sizes, std::int64_t rows = 0);

/// Look-up of a stack's tokens in the vocabulary's matrix, and its gradient.
void look_up_forward(Writer& w);
void look_up_backward(Writer& w);

}  // namespace stepcast::schedules
