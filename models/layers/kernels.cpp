#include "models/layers/kernels.h"

namespace stepcast::schedules {

OperatorKind kind(const Kernel& kernel) {
  return std::visit([](const auto& k) { return k.kind; }, kernel);
}

int launches(const Kernel& kernel) {
  const auto count = [](const auto& k) {
    if constexpr (requires { k.kernels; })
      return k.kernels;
    else
      return 1;
  };
  return std::visit(count, kernel);
}

bool is_norm(const Kernel& kernel) {
  return std::holds_alternative<Elementwise>(kernel) &&
         (kind(kernel) == OperatorKind::layer_norm || kind(kernel) == OperatorKind::rms_norm);
}

bool of_weights(const Kernel& kernel) {
  const auto ask = [](const auto& k) {
    if constexpr (requires { k.of_weights; })
      return k.of_weights;
    else
      return false;
  };
  return std::visit(ask, kernel);
}

bool multiplies(const Kernel& kernel) {
  return std::visit(
      [](const auto& k) {
        return requires { k.model_flops(); };
      },
      kernel);
}

double model_flops(const Kernel& kernel) {
  const auto count = [](const auto& k) -> double {
    if constexpr (requires { k.model_flops(); })
      return k.model_flops();
    else
      return 0;
  };
  return std::visit(count, kernel);
}

double skipped_flops(const Kernel& kernel) {
  const auto count = [](const auto& k) -> double {
    if constexpr (requires { k.skipped_flops(); })
      return k.skipped_flops();
    else
      return 0;
  };
  return std::visit(count, kernel);
}

bool gathers_input(const TensorCollective& traffic) {
  return traffic.operation == collectives::Operation::all_gather && traffic.among == Among::tensor &&
         traffic.kind != OperatorKind::checkpoint_gather;
}

SplitBackward split_backward(const Kernels& backward) {
  SplitBackward split;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (of_weights(backward[i])) {
      split.weights.push_back(backward[i]);
      continue;
    }
    split.inputs.push_back(backward[i]);
    auto* traffic = std::get_if<TensorCollective>(&split.inputs.back());
    if (traffic != nullptr && i + 1 < backward.size() && of_weights(backward[i + 1])) traffic->under_next = false;
  }
  return split;
}

}  // namespace stepcast::schedules
