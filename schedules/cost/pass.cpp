#include "schedules/cost/pass.h"

#include <algorithm>
#include <utility>

namespace stepcast::schedules {
namespace {

/// A multiply and a collective that go through the tokens in parts.
struct Pipelined {
  Time compute{};  ///< the multiply's parts, launches and what the traffic beside them costs them
  Time exposed{};  ///< of the traffic
};

/// Parts of a multiply of `multiply` each, and of traffic of `traffic` each. A ring all-gather starts with the part
/// that the rank has itself, so one less arrives: max(n g, (n - 1) a + g). A reduce-scatter of the last part follows
/// the multiply's: g + (n - 1) max(g, r) + r. Both slow down while both run.
Pipelined in_parts(const TensorCollective& op, Time multiply, Time traffic, double slowdown) {
  const std::int64_t n = op.parts;
  const Time beside = std::min(multiply, traffic) * (n - 1);
  const Time behind = op.operation == collectives::Operation::all_gather ? Time{} : traffic;
  return {multiply * n + from_seconds(to_seconds(beside) * slowdown), traffic * (n - 1) - beside + behind};
}

}  // namespace

PassTime together(const PassTime& a, const PassTime& b) {
  const PassTime both = a + b;
  const Time busy = both.compute - both.idle, exposed = std::max(both.exposed_tensor - busy, Time{});
  const Time idle = std::max(both.launches - busy - exposed, Time{});
  return {.duration = busy + idle + exposed,
          .compute = busy + idle,
          .exposed_tensor = exposed,
          .exposed_copy = {},
          .launches = both.launches,
          .idle = idle};
}

PassTime pass_time(const Kernels& operators, const KernelCost& cost, const TensorTimer& tensor,
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
  const auto timed = [&](const TensorCollective& op, int times = 1) {
    const collectives::Timing timing = tensor(op);
    for (int turn = 0; traffic && turn < times; ++turn)
      traffic->insert(traffic->end(), timing.loads.begin(), timing.loads.end());
    return timing.duration;
  };
  const auto run_in_parts = [&](const Gemm& multiply, const TensorCollective& op) {
    pass.exposed_tensor += std::exchange(beside, {});
    Gemm part = multiply;
    part.shape.m = (multiply.shape.m + op.parts - 1) / op.parts;
    Time each{};
    if (op.operation == collectives::Operation::all_gather) {
      each = {timed(op).value / (op.parts - 1)};  // what arrives, one part after the other
    } else {
      TensorCollective sent = op;
      sent.bytes = {op.bytes.value / op.parts};
      each = timed(sent, op.parts);
    }
    const Pipelined both = in_parts(op, cost.time(part), each, cost.software.overlap_slowdown);
    pass.compute += both.compute;
    pass.exposed_tensor += both.exposed;
    kernels += op.parts * (launches(multiply) + 1);
  };
  const auto run_collective = [&](const TensorCollective& op) {
    const Time alone = timed(op);
    if (op.under_next && beside == Time{})
      beside = alone;
    else
      pass.exposed_tensor += alone;
  };

  const TensorCollective* gathered = nullptr;  // in parts, while the multiply behind it is looked for
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Kernel& op = operators[i];
    const auto* in_it = std::get_if<TensorCollective>(&op);
    if (in_it != nullptr && in_it->parts > 1 && in_it->operation == collectives::Operation::all_gather) {
      gathered = in_it;
      continue;
    }
    if (const auto* multiply = std::get_if<Gemm>(&op)) {
      if (gathered != nullptr) {
        run_in_parts(*multiply, *std::exchange(gathered, nullptr));
        continue;
      }
      const auto* next = i + 1 < operators.size() ? std::get_if<TensorCollective>(&operators[i + 1]) : nullptr;
      if (next != nullptr && next->parts > 1 && next->operation == collectives::Operation::reduce_scatter) {
        run_in_parts(*multiply, *next);
        ++i;
        continue;
      }
    }
    kernels += launches(op);
    if (const auto* collective = std::get_if<TensorCollective>(&op))
      run_collective(*collective);
    else
      run_kernel(cost.time(op));
  }
  if (gathered != nullptr) run_collective(*gathered);
  pass.exposed_tensor += beside;

  pass.launches = cost.software.host_per_kernel * kernels;
  pass.idle = std::max(pass.launches - pass.compute - pass.exposed_tensor, Time{});
  pass.compute += pass.idle;
  pass.duration = pass.compute + pass.exposed_tensor;
  return pass;
}

}  // namespace stepcast::schedules
