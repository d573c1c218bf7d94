#include "models/cost/elementwise.h"

#include <algorithm>
#include <array>

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

constexpr std::array kKernels{MeasuredKernel{"layer_norm", Kind::layer_norm},
                              MeasuredKernel{"layer_norm_backward", Kind::layer_norm, true, 5.0 / 3},
                              MeasuredKernel{"rms_norm", Kind::rms_norm},
                              MeasuredKernel{"rms_norm_backward", Kind::rms_norm, true, 5.0 / 3},
                              MeasuredKernel{"softmax", Kind::softmax},
                              MeasuredKernel{"softmax_backward", Kind::softmax, true},
                              MeasuredKernel{"gelu", Kind::gelu},
                              MeasuredKernel{"gelu_backward", Kind::gelu, true},
                              MeasuredKernel{"swiglu", Kind::swiglu},
                              MeasuredKernel{"swiglu_backward", Kind::swiglu, true},
                              MeasuredKernel{"bias_dropout_add", Kind::bias_dropout_residual},
                              MeasuredKernel{"bias_dropout_add_backward", Kind::bias_dropout_residual, true},
                              MeasuredKernel{"embedding_gather", Kind::embedding},
                              MeasuredKernel{"embedding_scatter", Kind::embedding, true},
                              MeasuredKernel{"cross_entropy", Kind::cross_entropy},
                              MeasuredKernel{"cross_entropy_backward", Kind::cross_entropy, true},
                              MeasuredKernel{"adam", Kind::optimizer}};

}  // namespace

std::span<const MeasuredKernel> measured_kernels() { return kKernels; }

bool is_measured_kernel(std::string_view key) {
  return std::ranges::find(kKernels, key, &MeasuredKernel::key) != kKernels.end();
}

std::optional<double> measured_share(const Gpu& gpu, const Elementwise& kernel) {
  if (gpu.elementwise.empty()) return {};
  const auto* const measured = std::ranges::find_if(
      kKernels, [&](const MeasuredKernel& m) { return m.kind == kernel.kind && m.backward == kernel.backward; });
  if (measured == kKernels.end()) return {};
  const auto at = gpu.elementwise.find(measured->key);
  if (at == gpu.elementwise.end()) return {};
  return at->second * measured->counted;
}

}  // namespace stepcast::schedules
