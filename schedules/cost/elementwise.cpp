#include "schedules/cost/elementwise.h"

#include <algorithm>
#include <array>

namespace stepcast::schedules {
namespace {

constexpr std::array kKinds{ElementwiseKind{"layer_norm", "layer norm"},
                            ElementwiseKind{"layer_norm_backward", "layer norm gradient", 5.0 / 3},
                            ElementwiseKind{"rms_norm", "rms norm"},
                            ElementwiseKind{"rms_norm_backward", "rms norm gradient", 5.0 / 3},
                            ElementwiseKind{"softmax", "scale, mask, softmax"},
                            ElementwiseKind{"softmax_backward", "softmax gradient"},
                            ElementwiseKind{"gelu", "bias, GELU"},
                            ElementwiseKind{"gelu_backward", "GELU gradient"},
                            ElementwiseKind{"swiglu", "SwiGLU"},
                            ElementwiseKind{"swiglu_backward", "SwiGLU gradient"},
                            ElementwiseKind{"bias_dropout_add", "bias, dropout, residual"},
                            ElementwiseKind{"bias_dropout_add_backward", "dropout gradient"},
                            ElementwiseKind{"embedding_gather", "embedding look-up"},
                            ElementwiseKind{"embedding_scatter", "embedding gradient"},
                            ElementwiseKind{"cross_entropy", "cross entropy"},
                            ElementwiseKind{"cross_entropy_backward", "cross entropy gradient"},
                            ElementwiseKind{"adam", "optimizer"}};

}  // namespace

std::span<const ElementwiseKind> elementwise_kinds() { return kKinds; }

bool is_elementwise_kind(std::string_view kernel) {
  return std::ranges::find(kKinds, kernel, &ElementwiseKind::kernel) != kKinds.end();
}

std::optional<double> measured_share(const Gpu& gpu, std::string_view name) {
  if (gpu.elementwise.empty()) return {};
  const auto* const kind = std::ranges::find(kKinds, name, &ElementwiseKind::name);
  if (kind == kKinds.end()) return {};
  const auto at = gpu.elementwise.find(kind->kernel);
  if (at == gpu.elementwise.end()) return {};
  return at->second * kind->counted;
}

}  // namespace stepcast::schedules
