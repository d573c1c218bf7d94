#include "models/cost/pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/cost/captured_kernels.h"

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

/// Goes through the kernels of one pass.
class PassClock {
 public:
  PassClock(const KernelCost& cost, const TensorTimer& tensor, std::vector<collectives::SharedTiming>* traffic,
            PassParts* parts, std::vector<KernelShare>* shares)
      : cost_(cost), tensor_(tensor), traffic_(traffic), parts_(parts), shares_(shares) {}

  PassTime run(const Kernels& kernels) {
    if (shares_ != nullptr) shares_->assign(kernels.size(), {});
    if (cost_.of_layer && any(cost_.software.cuda_graph_modules))
      in_graph_ = captured_kernels(kernels, cost_.software.cuda_graph_modules);
    const TensorCollective* gathered = nullptr;  // in parts, while the multiply behind it is looked for
    std::size_t gathered_at = 0;
    std::optional<std::size_t> beside_at;  // the collective that hides under the next kernel
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      at_ = i;
      if (const auto* traffic = in_parts_of(kernels, i, collectives::Operation::all_gather)) {
        gathered = traffic;
        gathered_at = i;
        continue;
      }
      if (const auto* multiply = std::get_if<Gemm>(&kernels[i])) {
        if (gathered != nullptr) {
          run_in_parts(*multiply, *std::exchange(gathered, nullptr));
          share(i, gathered_at);
          continue;
        }
        if (const auto* traffic = in_parts_of(kernels, i + 1, collectives::Operation::reduce_scatter)) {
          run_in_parts(*multiply, *traffic);
          share(i, i + 1);
          ++i;
          continue;
        }
      }
      launch(kernels[i], i > 0 ? &kernels[i - 1] : nullptr);
      if (const auto* collective = std::get_if<TensorCollective>(&kernels[i]))
        run_collective(*collective);
      else
        run_kernel(cost_.time(kernels[i]));
      if (const auto* elementwise = std::get_if<Elementwise>(&kernels[i]); elementwise && elementwise->host_waits)
        wait_for_gpu();
      share(i, std::holds_alternative<TensorCollective>(kernels[i]) ? i : beside_at.value_or(i));
      beside_at = op_beside_ != nullptr ? beside_at.value_or(i) : std::optional<std::size_t>();
    }
    if (gathered != nullptr) {
      launch(*gathered);
      run_collective(*gathered);
      beside_at = gathered_at;
    }
    finish_beside();
    if (!kernels.empty()) share(kernels.size() - 1, beside_at.value_or(kernels.size() - 1));
    launched();
    pass_.duration = on_gpu();
    if (cost_.software.launch_blocking) {
      pass_.exposed_host = pass_.host.time;
      pass_.duration += pass_.exposed_host;
      pass_.host = {pass_.duration, {}, pass_.host.launches};
    }
    return pass_;
  }

 private:
  /// What the pass has grown by since this was called last is of a kernel and of traffic, by their places.
  void share(std::size_t kernel, std::size_t traffic) {
    if (shares_ == nullptr) return;
    (*shares_)[kernel].compute += pass_.compute - shared_.compute;
    (*shares_)[traffic].exposed_tensor += pass_.exposed_tensor - shared_.exposed_tensor;
    shared_ = {pass_.compute, pass_.exposed_tensor};
  }

  /// The host launches a kernel behind `before`. What has come before it ends that one's run of launches.
  void launch(const Kernel& kernel, const Kernel* before = nullptr, int times = 1) {
    launched();
    launching_ = cost_.launch(kernel, before);
    launching_.count *= times;
    if (cost_.captured() && pass_.host.launches > 0) launching_ = {};
    if (!in_graph(at_)) return;
    const bool goes_on = at_ > 0 && in_graph(at_ - 1);
    launching_ = goes_on ? HostLaunches{} : HostLaunches{1, on_host(cost_.software, cost_.software.host_per_kernel)};
  }

  bool in_graph(std::size_t kernel) const { return !in_graph_.empty() && in_graph_[kernel]; }

  /// Accounts for the kernel that was launched last, now that it is known how long it takes: its launches are spread
  /// over it.
  void launched() {
    const auto [count, each] = std::exchange(launching_, {});
    const Time gpu = on_gpu(), takes = gpu - std::exchange(launched_for_, gpu);
    if (count == 0 && !pass_.host.ahead) return;
    const HostWork once{each, {}, 1}, all = count > 0 ? repeated(once, {takes.value / count}, count) : HostWork{};
    const Time held = held_up(pass_.host, all);
    pass_.host = then(pass_.host, gpu - takes, all, takes);
    pass_.exposed_host += held;
    launched_for_ += held;
  }

  Time on_gpu() const { return pass_.compute + pass_.exposed_tensor + pass_.exposed_host; }

  /// The host waits for all it has launched, or the GPU for a host that is later: both go on at once.
  void wait_for_gpu() {
    launched();
    if (cost_.software.launch_blocking || cost_.captured()) return;
    HostWork& host = pass_.host;
    const Time late = host.ahead ? Time{} - *host.ahead : host.time - on_gpu();
    if (host.ahead) {
      pass_.exposed_host += std::max(late, Time{});
      launched_for_ = on_gpu();
    } else {
      host.behind = std::max(host.behind, late);
    }
    host.ahead = Time{};
    host.launches = 0;
  }

  /// The kernel at a place, if it is such traffic that goes in parts.
  static const TensorCollective* in_parts_of(const Kernels& kernels, std::size_t i, collectives::Operation operation) {
    const auto* traffic = i < kernels.size() ? std::get_if<TensorCollective>(&kernels[i]) : nullptr;
    return traffic != nullptr && traffic->parts > 1 && traffic->operation == operation ? traffic : nullptr;
  }

  void run_kernel(Time alone) {
    // Both slow down while both run; what is left of the longer one then runs alone.
    const Time beside = std::exchange(beside_, {}), hidden = std::min(alone, beside);
    const Time slowed = alone + from_seconds(to_seconds(hidden) * cost_.software.overlap_slowdown);
    pass_.compute += slowed;
    pass_.exposed_tensor += beside - hidden;
    if (const TensorCollective* op = std::exchange(op_beside_, nullptr)) {
      add_part({alone, *op, 1, true, beside});
      add_kernels(slowed - alone);  // which the one that ends last is slowed by, whether kernels or traffic
    } else {
      add_kernels(slowed);
    }
  }

  void run_collective(const TensorCollective& op) {
    const Time alone = timed(op);
    if (op.under_next && beside_ == Time{}) {
      finish_beside();  // which takes no time
      beside_ = alone;
      op_beside_ = &op;
    } else {
      pass_.exposed_tensor += alone;
      add_part({{}, op, 1, false, alone});
    }
  }

  /// Nothing is left for a collective to hide under.
  void finish_beside() {
    const Time alone = std::exchange(beside_, {});
    pass_.exposed_tensor += alone;
    if (const TensorCollective* op = std::exchange(op_beside_, nullptr)) add_part({{}, *op, 1, false, alone});
  }

  void add_part(const PassPart& part) {
    if (parts_ != nullptr) parts_->push_back(part);
  }

  void add_kernels(Time time) {
    if (parts_ == nullptr || time == Time{}) return;
    if (parts_->empty() || parts_->back().traffic) parts_->emplace_back();
    parts_->back().kernels += time;
  }

  void run_in_parts(const Gemm& multiply, const TensorCollective& op) {
    finish_beside();
    launch(multiply, nullptr, op.parts);
    if (launching_.count > 0 && !cost_.captured() && !in_graph(at_)) launching_.each += cost_.launch(op, nullptr).each;
    Gemm part = multiply;
    part.shape.m = (multiply.shape.m + op.parts - 1) / op.parts;
    Time each{}, all{};
    TensorCollective sent = op;
    if (op.operation == collectives::Operation::all_gather) {
      all = timed(op);
      each = {all.value / (op.parts - 1)};  // what arrives, one part after the other
    } else {
      sent.bytes = {op.bytes.value / op.parts};
      each = timed(sent, op.parts);
    }
    const Time multiplied = cost_.time(part);
    const Pipelined both = in_parts(op, multiplied, each, cost_.software.overlap_slowdown);
    const Time beside = multiplied * (op.parts - 1), slower = both.compute - multiplied * op.parts;
    if (op.operation == collectives::Operation::all_gather) {
      add_part({beside, op, 1, true, all});
      add_kernels(slower + multiplied);
    } else {
      add_kernels(multiplied);
      add_part({beside, sent, op.parts - 1, true, each});
      add_kernels(slower);
      add_part({{}, sent, 1, false, each});
    }
    pass_.compute += both.compute;
    pass_.exposed_tensor += both.exposed;
  }

  /// The time of a collective once, which runs so many times.
  Time timed(const TensorCollective& op, int times = 1) {
    const collectives::SharedTiming timing = tensor_(op);
    if (traffic_ != nullptr) traffic_->insert(traffic_->end(), static_cast<std::size_t>(times), timing);
    return timing->duration;
  }

  const KernelCost& cost_;
  const TensorTimer& tensor_;
  std::vector<collectives::SharedTiming>* const traffic_;
  PassParts* const parts_;
  std::vector<KernelShare>* const shares_;
  KernelShare shared_;  ///< what all kernels so far have been given
  PassTime pass_;
  Time beside_{};  ///< of a collective that hides under the next kernel
  const TensorCollective* op_beside_ = nullptr;
  HostLaunches launching_;      ///< of the kernel that is being run
  std::size_t at_ = 0;          ///< which one that is
  std::vector<bool> in_graph_;  ///< of each kernel; empty: none is
  Time launched_for_{};         ///< what all before it take on the GPU
};

}  // namespace

PassTime of_host(Time time) { return {.host = {time, {}, 0}}; }

PassTime begun_together(PassTime pass) {
  const Time behind = std::exchange(pass.host.behind, {});
  pass.exposed_host += behind;
  pass.duration += behind;
  pass.host.time = std::min(pass.host.time, pass.duration);
  return pass;
}

Time in_a_row(const PassTime& pass) {
  return pass.host.ahead ? pass.duration + held_up(pass.host, pass.host) : std::max(pass.duration, pass.host.time);
}

PassTime together(const PassTime& a, const PassTime& b) {
  const PassTime both = a + b;
  const Time exposed = std::max(both.exposed_tensor - both.compute, Time{});
  const bool waits = both.host.ahead.has_value();
  const Time exposed_host = waits ? Time{} : both.exposed_host;
  PassTime pair{.duration = both.compute + exposed + exposed_host,
                .compute = both.compute,
                .exposed_tensor = exposed,
                .exposed_copy = {},
                .exposed_host = exposed_host,
                .copies_in = both.copies_in,
                .copies_out = both.copies_out,
                .host = {both.host.time, {}, a.host.launches + b.host.launches}};
  // The host launches kernels of both in turn: it holds them up at least as long as either, and to the last launch.
  pair.host.behind = std::max({a.host.behind, b.host.behind, both.host.time - pair.duration});
  const Time beside = std::max(both.copies_in, both.copies_out);
  pair.exposed_copy = beside == Time{} ? both.exposed_copy : std::max(beside - pair.duration, Time{});
  if (beside > Time{} && pair.exposed_copy > Time{}) pair.hides_copies = pair.duration;
  pair.duration += pair.exposed_copy;
  return pair;
}

PassTime pass_time(const Kernels& kernels, const KernelCost& cost, const TensorTimer& tensor,
                   std::vector<collectives::SharedTiming>* traffic, PassParts* parts,
                   std::vector<KernelShare>* shares) {
  return PassClock(cost, tensor, traffic, parts, shares).run(kernels);
}

}  // namespace stepcast::schedules
