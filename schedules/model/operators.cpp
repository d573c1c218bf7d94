#include "schedules/model/operators.h"

namespace stepcast::schedules {
namespace {

bool of_weights(const Operator& op) {
  struct Asked {
    bool operator()(const Gemm& k) const { return k.of_weights; }
    bool operator()(const Convolution& k) const { return k.of_weights; }
    bool operator()(const Elementwise& k) const { return k.of_weights; }
    bool operator()(const FusedAttention&) const { return false; }
    bool operator()(const TensorCollective& k) const { return k.of_weights; }
  };
  return std::visit(Asked{}, op);
}

}  // namespace

SplitBackward split_backward(const Operators& backward) {
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
