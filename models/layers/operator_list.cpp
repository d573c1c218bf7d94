#include "models/layers/operator_list.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

double sum(const OperatorList& list, double Operator::*member) {
  double all = 0;
  for (const Operator& op : list.operators) all += op.*member;
  return all;
}

double sum_of_frozen(const OperatorList& list, double Operator::*member) {
  double all = 0;
  for (const Operator& op : list.operators)
    if (op.frozen) all += op.*member;
  return all;
}

}  // namespace

Operator& OperatorList::begin(OperatorKind kind, RecomputedModules modules) {
  if (operators.empty()) {  // room for a usual layer
    operators.reserve(32);
    forward.reserve(32);
    backward.reserve(48);
    saved.reserve(24);
  }
  return operators.emplace_back(Operator{.kind = kind,
                                         .modules = modules,
                                         .forward = static_cast<std::uint32_t>(forward.size()),
                                         .backward = static_cast<std::uint32_t>(backward.size()),
                                         .saved = static_cast<std::uint32_t>(saved.size())});
}

Kernels backward_pass(const OperatorList& list) {
  Kernels pass;
  pass.reserve(list.backward.size());
  auto end = list.backward.end();
  for (auto op = list.operators.rbegin(); op != list.operators.rend(); ++op) {
    const auto first = list.backward.begin() + op->backward;
    pass.insert(pass.end(), first, end);
    end = first;
  }
  return pass;
}

Kernels repeated_kernels(const OperatorList& list, const RecomputedModules& repeated) {
  Kernels pass;
  for (std::size_t i = 0; i < list.operators.size(); ++i) {
    if (!overlap(list.operators[i].modules, repeated)) continue;
    const auto first = list.forward.begin() + list.operators[i].forward;
    const auto end =
        i + 1 < list.operators.size() ? list.forward.begin() + list.operators[i + 1].forward : list.forward.end();
    pass.insert(pass.end(), first, end);
  }
  return pass;
}

double parameters(const OperatorList& list) { return sum(list, &Operator::parameters); }
double expert_parameters(const OperatorList& list) { return sum(list, &Operator::expert_parameters); }
double frozen_parameters(const OperatorList& list) { return sum_of_frozen(list, &Operator::parameters); }
double frozen_expert_parameters(const OperatorList& list) { return sum_of_frozen(list, &Operator::expert_parameters); }
double gradient_bytes(const OperatorList& list) {
  const double all = saved_bytes(list);
  double at_core = 0, at_others = 0, saved = 0;
  std::size_t tensor = 0;
  for (std::size_t i = 0; i < list.operators.size(); ++i) {
    const Operator& each = list.operators[i];
    const std::size_t end = i + 1 < list.operators.size() ? list.operators[i + 1].saved : list.saved.size();
    for (; tensor < end; ++tensor) saved += list.saved[tensor].bytes;
    if (each.modules.attention_core)
      at_core = std::max(at_core, saved + each.gradients - all);
    else
      at_others += each.gradients;
  }
  return std::max(at_core, at_others);
}

double saved_bytes(const OperatorList& list, const RecomputedModules& repeated) {
  double bytes = 0;
  for (const SavedTensor& tensor : list.saved)
    if (!overlap(tensor.dropped_with, repeated)) bytes += tensor.bytes;
  return bytes;
}

double input_bytes(const OperatorList& list) { return list.saved.front().bytes; }

double largest_weight(const OperatorList& list) {
  double most = 0;
  for (const Kernel& kernel : list.backward)
    if (const auto* gemm = std::get_if<Gemm>(&kernel); gemm != nullptr && gemm->of_weights)
      most = std::max(most, static_cast<double>(gemm->shape.m) * static_cast<double>(gemm->shape.n));
  return most;
}

}  // namespace stepcast::schedules
