#include "schedules/model/feed_forward.h"

#include "schedules/model/multiply_pair.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

void activation_forward(Writer& w, std::int64_t width) {
  const double inner = d(w.z.tokens) * d(width) * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return w.touch("SwiGLU", inner * 3);
    case Activation::geglu:
      return w.touch("GEGLU", inner * 3);
    case Activation::relu:
      return w.touch("ReLU", inner * 2);
    case Activation::gelu:
      break;
  }
  if (w.s.software.fused_bias_gelu)
    w.touch("bias, GELU", inner * 2);
  else
    w.touch("bias, GELU", inner * 8, 4);
}

void activation_backward(Writer& w, std::int64_t width) {
  const double inner = d(w.z.tokens) * d(width) * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return w.touch("SwiGLU gradient", inner * 5);
    case Activation::geglu:
      return w.touch("GEGLU gradient", inner * 5);
    case Activation::relu:
      return w.touch("ReLU gradient", inner * 3);
    case Activation::gelu:
      break;
  }
  w.touch("GELU gradient", inner * (w.s.software.fused_bias_gelu ? 3 : 9), w.s.software.fused_bias_gelu ? 1 : 4);
  if (has_biases(w.s)) w.touch("bias gradient", inner);
}

std::int64_t feed_forward_columns(const Writer& w, std::int64_t inner) {
  return is_gated(layer_style(w.s.model).activation) ? 2 * inner : inner;
}

void feed_forward(Writer& w, std::int64_t inner) {
  first_multiply(w, "feed-forward in", feed_forward_columns(w, inner));
  activation_forward(w, inner);
  second_multiply(w, "feed-forward out", inner);
}

void feed_forward_backward(Writer& w, std::int64_t inner) {
  second_multiply_backward(w, "feed-forward out: gradient of input", "feed-forward out: gradient of weight", inner);
  activation_backward(w, inner);
  first_multiply_backward(w, "feed-forward in: gradient of input", "feed-forward in: gradient of weight",
                          feed_forward_columns(w, inner));
}

}  // namespace stepcast::schedules
