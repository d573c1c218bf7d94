#include "models/layers/feed_forward.h"

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/kept_inputs.h"
#include "models/layers/multiply_pair.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

void relu(Writer& w, double bytes) {
  w.begin(Kind::relu);
  w.forward.touch(bytes * 2);
  w.backward.touch(bytes * 3);
  // Its result is what the multiply behind it keeps, unless that was gathered.
  if (parts_of_second_input(w.z) > 1 ||
      (trains_adapters(w.s.training) && !keeps_input_as_it_is(w.s, Kind::feed_forward_out)))
    w.saves(bytes);
}

void squared_relu(Writer& w, double bytes) {
  w.begin(Kind::squared_relu);
  w.forward.touch(bytes * 2);
  w.backward.touch(bytes * 3);
  w.saves(bytes);
}

/// The product of the gate's activation and the rest. Where they are kernels of their own, the product keeps what the
/// activation wrote beside the gate and the rest. Eager PyTorch writes it down and reads it again, and has the
/// gradients of both by a kernel each; a stack whose other operators are no composites counts one, as its host's times
/// do.
void gate(Writer& w, Kind kind, double bytes) {
  const bool composite = w.s.software.composite_operators, apart = composite || !w.s.software.fused_bias_gelu;
  const bool in_eight_bits = w.s.software.fp8_input_store;
  w.begin(kind);
  if (in_eight_bits) {  // both inputs: casts there and back
    w.forward.touch(bytes * 2 * (1 + 1 / d(w.z.element)));
    w.backward.touch(bytes * 2 * (1 + 1 / d(w.z.element)));
  }
  w.forward.touch(bytes * (composite ? 5 : 3), composite ? 2 : 1);
  w.backward.touch(bytes * (composite ? 9 : 5), composite ? 3 : 1);
  w.saves(bytes * 2 / (in_eight_bits ? d(w.z.element) : 1));
  if (apart) w.saves(bytes);  // the product keeps what the activation wrote
}

void gelu(Writer& w, double bytes) {
  const bool fused = w.s.software.fused_bias_gelu;
  if (layer_style(w.s.model).feed_forward_biases && w.s.software.biases) {
    w.begin(Kind::bias);
    w.backward.touch_for_weights(bytes);
  }
  w.begin(Kind::gelu);
  w.forward.touch(bytes * (fused ? 2 : 8), fused ? 1 : 4);
  w.backward.touch(bytes * (fused ? 3 : 9), fused ? 1 : 4);
  w.saves(bytes);
}

}  // namespace

void clamped_gate(Writer& w, double bytes) {
  w.begin(Kind::swiglu);
  w.forward.touch(bytes * 8, 3);
  w.forward.touch(bytes * 3);
  w.backward.touch(bytes * 5);
  w.backward.touch(bytes * 14, 5);
  w.saves(bytes * 2);
}

void activation(Writer& w, std::int64_t width) {
  const double bytes = d(w.z.tokens) * d(width) * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return gate(w, Kind::swiglu, bytes);
    case Activation::geglu:
      return gate(w, Kind::geglu, bytes);
    case Activation::clamped_swiglu:
      clamped_gate(w, bytes);
      return w.saves(2 * bytes);  // as they came in
    case Activation::relu:
      return relu(w, bytes);
    case Activation::squared_relu:
      return squared_relu(w, bytes);
    case Activation::gelu:
      return gelu(w, bytes);
  }
}

std::int64_t feed_forward_columns(const Model& model, std::int64_t inner) {
  return is_gated(layer_style(model).activation) ? 2 * inner : inner;
}

void feed_forward(Writer& w, std::int64_t inner, double kept) {
  first_multiply(w, Kind::feed_forward_in, feed_forward_columns(w.s.model, inner));
  adapt_first(w, Kind::feed_forward_in, feed_forward_columns(w.s.model, inner));
  activation(w, inner);
  second_multiply(w, Kind::feed_forward_out, inner);
  w.saves(d(w.z.tokens) * d(inner) * kept);
  adapt_second(w, Kind::feed_forward_out, inner);
}

double kept_of_second_input(const Scenario& s, const StackSizes& z) {
  return kept_of_input(s, Kind::feed_forward_out) * parts_of_second_input(z);
}

double feed_forward_gradients(const Scenario& s, const StackSizes& z) {
  const double first = d(z.tokens) * d(feed_forward_columns(s.model, z.ffn)) * ranks_of_first_input(z);
  return (z.residual + z.inner * parts_of_second_input(z) + first) * d(z.element);
}

}  // namespace stepcast::schedules
