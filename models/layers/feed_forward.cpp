#include "models/layers/feed_forward.h"

#include "models/layers/as_double.h"
#include "models/layers/low_precision.h"
#include "models/layers/multiply_pair.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

/// `saved`: elements, over those of the result.
void activate(Writer& w, Kind kind, double bytes, double forward, double backward, double saved) {
  w.begin(kind);
  w.forward.touch(bytes * forward);
  w.backward.touch(bytes * backward);
  w.saves(bytes * saved);
}

void gelu(Writer& w, double bytes) {
  const bool fused = w.s.software.fused_bias_gelu;
  if (layer_style(w.s.model).feed_forward_biases && w.s.software.biases) {
    w.begin(Kind::bias);
    w.backward.touch(bytes);
  }
  w.begin(Kind::gelu);
  w.forward.touch(bytes * (fused ? 2 : 8), fused ? 1 : 4);
  w.backward.touch(bytes * (fused ? 3 : 9), fused ? 1 : 4);
  w.saves(bytes);
}

}  // namespace

void activation(Writer& w, std::int64_t width) {
  const double bytes = d(w.z.tokens) * d(width) * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return activate(w, Kind::swiglu, bytes, 3, 5, 2);
    case Activation::geglu:
      return activate(w, Kind::geglu, bytes, 3, 5, 2);
    case Activation::relu:
      // Its result is what the multiply behind it keeps, unless that was gathered.
      return activate(w, Kind::relu, bytes, 2, 3, parts_of_second_input(w.z) == 1 ? 0 : 1);
    case Activation::gelu:
      return gelu(w, bytes);
  }
}

std::int64_t feed_forward_columns(const Model& model, std::int64_t inner) {
  return is_gated(layer_style(model).activation) ? 2 * inner : inner;
}

void feed_forward(Writer& w, std::int64_t inner, double kept) {
  first_multiply(w, Kind::feed_forward_in, feed_forward_columns(w.s.model, inner));
  activation(w, inner);
  second_multiply(w, Kind::feed_forward_out, inner);
  w.saves(d(w.z.tokens) * d(inner) * kept);
}

double kept_of_second_input(const Scenario& s, const StackSizes& z) {
  return kept_input_bytes(s) * parts_of_second_input(z);
}

double feed_forward_gradients(const Scenario& s, const StackSizes& z) {
  const double first = d(z.tokens) * d(feed_forward_columns(s.model, z.ffn)) * ranks_of_first_input(z);
  return (z.residual + z.inner * parts_of_second_input(z) + first) * d(z.element);
}

}  // namespace stepcast::schedules
