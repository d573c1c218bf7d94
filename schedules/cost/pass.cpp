#include "schedules/cost/pass.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

int launches(const Operator& op) {
  struct Count {
    int operator()(const Gemm& k) const { return k.kernels; }
    int operator()(const Convolution&) const { return 1; }
    int operator()(const Elementwise& k) const { return k.kernels; }
    int operator()(const FusedAttention& k) const { return k.kernels; }
    int operator()(const TensorCollective&) const { return 1; }
  };
  return std::visit(Count{}, op);
}

}  // namespace

PassTime together(const PassTime& a, const PassTime& b) {
  const PassTime both = a + b;
  const Time exposed = std::max(both.exposed_tensor - both.compute, Time{});
  return {both.compute + exposed, both.compute, exposed};
}

PassTime pass_time(const Operators& operators, const KernelCost& cost, const TensorTimer& tensor,
                   std::vector<collectives::Timing::Load>* traffic) {
  PassTime pass;
  Time beside{};  // left of a collective that hides under the next kernel
  int kernels = 0;

  const auto run_kernel = [&](Time alone) {
    // Both slow down while both run; what is left of the longer one then runs alone.
    const Time hidden = std::min(alone, beside);
    pass.compute += alone + from_seconds(to_seconds(hidden) * cost.software.overlap_slowdown);
    pass.exposed_tensor += beside - hidden;
    beside = {};
  };
  const auto run_collective = [&](const TensorCollective& op) {
    const collectives::Timing timing = tensor(op);
    if (traffic) traffic->insert(traffic->end(), timing.loads.begin(), timing.loads.end());
    if (op.under_next && beside == Time{})
      beside = timing.duration;
    else
      pass.exposed_tensor += timing.duration;
  };

  for (const Operator& op : operators) {
    kernels += launches(op);
    if (const auto* collective = std::get_if<TensorCollective>(&op))
      run_collective(*collective);
    else if (const auto* gemm = std::get_if<Gemm>(&op))
      run_kernel(cost.time(*gemm));
    else if (const auto* convolution = std::get_if<Convolution>(&op))
      run_kernel(cost.time(*convolution));
    else if (const auto* fused = std::get_if<FusedAttention>(&op))
      run_kernel(cost.time(*fused));
    else
      run_kernel(cost.time(std::get<Elementwise>(op)));
  }
  pass.exposed_tensor += beside;

  const Time launched = cost.software.host_per_kernel * kernels;
  if (pass.compute + pass.exposed_tensor < launched) pass.compute = launched - pass.exposed_tensor;
  pass.duration = pass.compute + pass.exposed_tensor;
  return pass;
}

}  // namespace stepcast::schedules
