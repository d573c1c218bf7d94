#include "models/layers/network_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/layers/as_double.h"
#include "models/layers/make_block.h"
#include "models/layers/stack_sizes.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

Bytes bytes(double n) { return whole_bytes(n); }

/// What is known between two layers.
struct LayerBoundary {
  Tensor tensor;
  bool trained = false;   ///< parameters stand before: a gradient is wanted here
  bool features = false;  ///< behind the first `linear`: tensor ranks share features, not samples
  bool paired = false;    ///< TensorMethod::megatron: the next `linear` is the second of a pair
  double listed = 0;      ///< where no tensor is said: values of one sample that listed operators pass on; 0: none yet
  friend bool operator==(const LayerBoundary&, const LayerBoundary&) = default;
};

/// What the first gemm of a list reads of one sample.
double first_read(const Network& network) {
  const auto gemm =
      std::ranges::find_if(network.layers, [](const NetworkLayer& entry) { return entry.kind == LayerKind::gemm; });
  return gemm == network.layers.end() ? 0 : d(gemm->m) * d(gemm->k) * d(gemm->batch);
}

/// Values of one sample between two layers.
double passed(const LayerBoundary& at) { return at.tensor.channels > 0 ? at.tensor.values() : at.listed; }

/// Writes down the operators of one unit.
class UnitWriter {
 public:
  UnitWriter(const Scenario& scenario, LayerBoundary at)
      : s_(scenario),
        at_(at),
        ranks_(scenario.parallelism.tensor),
        method_(tensor_method(scenario)),
        micro_batch_(scenario.training.micro_batch),
        samples_(micro_batch_ / ranks_),
        element_(element_bytes(scenario.training.precision)) {}

  LayerBoundary at() const { return at_; }

  Block take() {
    const double all = at_.tensor.channels > 0 ? values() * d(ranks_) : at_.listed * d(micro_batch_);
    Block block = part_block("unit", std::move(list_), all * d(element_));
    block.layer = true;
    return block;
  }

  void layer(const NetworkLayer& once) {
    switch (once.kind) {
      case LayerKind::convolution:
        return convolution(once);
      case LayerKind::linear:
        return linear(once);
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        return pool(once);
      case LayerKind::batch_norm:
        return norm(true);
      case LayerKind::relu:
        return relu();
      case LayerKind::dropout:
        return dropout();
      case LayerKind::branches:
        return branches(once);
      case LayerKind::gemm:
        return gemm(once);
      case LayerKind::elementwise:
        return elementwise(once);
      case LayerKind::bottleneck:
      case LayerKind::basic:
        return;  // spelled out as branches
    }
  }

 private:
  /// Values of all samples on this rank at this place.
  double values(const Tensor& tensor) const {
    return tensor.values() * (at_.features ? d(micro_batch_) / d(ranks_) : d(samples_));
  }
  double values() const { return values(at_.tensor); }

  /// Begins an operator, which reads what is said, or else the result of the one before it.
  void begin(Kind kind) {
    list_.begin(kind);
    for (const std::uint32_t of : std::exchange(reads_, {})) list_.inputs.push_back({last_operator(), of});
  }
  std::uint32_t last_operator() const {
    return list_.operators.empty() ? kListInput : static_cast<std::uint32_t>(list_.operators.size() - 1);
  }

  void owns(double parameters) { list_.operators.back().parameters += parameters; }
  void saves(double bytes) { list_.saved.push_back({bytes}); }
  void forward(double bytes, int kernels = 1) {
    list_.forward.push_back(Elementwise{list_.operators.back().kind, bytes, kernels});
  }
  void backward(double bytes, int kernels = 1) {
    list_.backward.push_back(Elementwise{list_.operators.back().kind, bytes, kernels, false, true});
  }

  /// An operator that streams `forward` and `backward` elements for each value here.
  void stream(Kind kind, double forward_each, double backward_each, int kernels = 1) {
    begin(kind);
    forward(values() * (forward_each * d(element_)), kernels);
    if (at_.trained) backward(values() * (backward_each * d(element_)), kernels);
  }

  void convolution(const NetworkLayer& once) {
    const Tensor in = at_.tensor, out = output(once, in);
    const std::int64_t taps = once.kernel_height * once.kernel_width, g = once.groups;
    const std::int64_t in_group = in.channels / g, out_group = once.out / g;
    const std::int64_t out_pixels = samples_ * out.height * out.width, in_pixels = samples_ * in.height * in.width;
    const double in_bytes = values(in) * d(element_), out_bytes = values(out) * d(element_);
    const double weights = d(in_group * once.out * taps);
    const double weight_bytes = weights * d(element_);
    const bool winograd = taps == 9 && once.kernel_height == 3 && once.stride == 1 && g == 1;
    const std::int64_t stride2 = once.stride * once.stride;
    // To channels last and back: the kernels for matrix units want channels last.
    const bool transposes = !s_.software.channels_last && has_matrix_units(s_.training.precision);

    begin(Kind::convolution);
    owns(weights);
    saves(out_bytes);
    if (transposes) forward(2 * (in_bytes + out_bytes), 2);
    list_.forward.push_back(Convolution{Kind::convolution, shape(out_pixels, out_group, in_group * taps, g),
                                        in_bytes + weight_bytes, winograd});
    if (transposes) backward(2 * (in_bytes + out_bytes), 2);
    list_.backward.push_back(Convolution{Kind::convolution, shape(out_group, in_group * taps, out_pixels, g),
                                         in_bytes + out_bytes, winograd, true});
    sum_over_tensor_ranks(weights);
    if (at_.trained) {
      if (transposes) backward(2 * (in_bytes + out_bytes), 2);
      // With a stride each pixel of the input has met only some of the kernel's.
      const std::int64_t met = std::max<std::int64_t>(1, out_group * taps / stride2);
      list_.backward.push_back(
          Convolution{Kind::convolution, shape(in_pixels, in_group, met, g), out_bytes + weight_bytes, winograd});
    }

    at_.tensor = out;
    at_.trained = true;
    if (once.bias) bias(once.out);
    if (once.norm) norm(once.relu);  // else an addition follows, which keeps nothing of its own
    if (once.relu) relu(once.norm);
  }

  GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) const {
    return {m, n, k, batch, d(element_), element_};
  }

  /// Gradients of what every tensor rank holds for its own samples; beside the kernel that follows, where the software
  /// overlaps.
  void sum_over_tensor_ranks(double parameters) {
    if (ranks_ == 1) return;
    const double moved = parameters * d(element_bytes(gradient_precision(s_)));
    TensorCollective sum{list_.operators.back().kind, Operation::all_reduce, bytes(moved), data_overlap(s_)};
    sum.of_weights = true;
    list_.backward.push_back(sum);
  }

  void exchange(Kernels& into, Operation operation, double features) const {
    if (ranks_ == 1) return;
    into.push_back(TensorCollective{Kind::linear, operation, bytes(features * d(micro_batch_) * d(element_)), false});
  }

  void linear(const NetworkLayer& once) {
    const bool by_rows = method_ == TensorMethod::reduce_output || at_.paired;
    begin(Kind::linear);
    if (by_rows)
      linear_by_rows(once);
    else
      linear_by_columns(once);
    at_ = {output(once, at_.tensor), true, true, method_ == TensorMethod::megatron && !by_rows, 0};
    saves(values() * d(element_));
    if (once.bias) bias(once.out / ranks_);
    if (once.relu) relu();
  }

  Gemm plain(std::int64_t m, std::int64_t n, std::int64_t k) const { return {Kind::linear, shape(m, n, k, 1)}; }
  Gemm gradient_of_weight(std::int64_t columns, std::int64_t rows) const {
    Gemm of_weight = plain(columns, rows, micro_batch_);
    of_weight.of_weights = true;
    of_weight.shape.by_columns = true;
    return of_weight;
  }

  /// Columns, which are the output's features, are shared by the tensor ranks.
  void linear_by_columns(const NetworkLayer& once) {
    Kernels &f = list_.forward, &b = list_.backward;
    const double features = at_.tensor.values();
    const auto columns = once.out / ranks_, rows = static_cast<std::int64_t>(features);
    exchange(f, Operation::all_gather, features);
    f.push_back(plain(micro_batch_, columns, rows));
    b.push_back(gradient_of_weight(columns, rows));
    if (at_.trained) {
      b.push_back(plain(micro_batch_, rows, columns));
      exchange(b, Operation::reduce_scatter, features);
    }
    owns(features * d(columns));
  }

  /// Rows, which are the input's features, are; each rank's partial outputs are summed, and their features shared.
  /// Ranks that had samples to share change them for features first.
  void linear_by_rows(const NetworkLayer& once) {
    Kernels &f = list_.forward, &b = list_.backward;
    const auto rows = static_cast<std::int64_t>(at_.tensor.values()) / ranks_;
    if (!at_.features) exchange(f, Operation::all_to_all, d(rows));
    f.push_back(plain(micro_batch_, once.out, rows));
    exchange(f, Operation::reduce_scatter, d(once.out));
    exchange(b, Operation::all_gather, d(once.out));
    b.push_back(gradient_of_weight(once.out, rows));
    if (at_.trained) {
      b.push_back(plain(micro_batch_, rows, once.out));
      if (!at_.features) exchange(b, Operation::all_to_all, d(rows));
    }
    owns(d(rows) * d(once.out));
  }

  void bias(std::int64_t parameters) {
    stream(Kind::bias, 2, 1);
    owns(d(parameters));
  }

  /// Forward reads twice, once for the statistics; backward likewise both its inputs. Convolutions may do some of it:
  /// NVIDIA's of MXNet, whose result is then kept by nobody (symbols/resnet-v1b-stats-fl.py and -mainloop-fl.py of
  /// mlcommons/training_results_v3.0, NVIDIA/benchmarks/resnet).
  void norm(bool keeps_result) {
    const NormInConvolutions inside = s_.software.norm_in_convolutions;
    const bool by_the_next = inside == NormInConvolutions::all && keeps_result;
    at_.trained = true;
    const int kernels = s_.software.fused_norm_relu ? 1 : 2;
    if (by_the_next) {
      begin(Kind::batch_norm);
      backward(values() * (5 * d(element_)), kernels);
    } else {
      stream(Kind::batch_norm, inside == NormInConvolutions::none ? 3 : 2, 5, kernels);
    }
    owns(2 * d(at_.tensor.channels));
    if (keeps_result && !by_the_next) saves(values() * d(element_));
  }

  /// In place: what it leaves is what the next layer keeps anyway.
  void relu(bool behind_norm = false) {
    if (behind_norm && s_.software.fused_norm_relu) return;
    stream(Kind::relu, 2, 3);
  }

  void dropout() {
    stream(Kind::dropout, 2 + kMask / d(element_), 2 + kMask / d(element_));
    saves(values() * (d(element_) + kMask));
  }

  void pool(const NetworkLayer& once) {
    constexpr double kIndex = 8;  // where a maximum was, an int64
    const double index = once.kind == LayerKind::max_pool ? kIndex : 0, in = values();
    at_.tensor = output(once, at_.tensor);
    const double moved = in * d(element_) + values() * (d(element_) + index);
    begin(Kind::pool);
    forward(moved);
    if (at_.trained) backward(moved);
    saves(values() * (d(element_) + index));
  }

  void branches(const NetworkLayer& entry) {
    const LayerBoundary start = at_;
    LayerBoundary end = start;
    std::vector<std::uint32_t> ends;
    if (start.trained && entry.branches.size() > 1) {  // gradients that come back from the branches are added up
      begin(Kind::branches);
      backward(values() * (3 * d(element_) * d(std::ssize(entry.branches) - 1)));
    }
    const std::vector<std::uint32_t> first = reads_.empty() ? std::vector{last_operator()} : reads_;
    for (const std::vector<NetworkLayer>& branch : entry.branches) {
      at_ = start;
      reads_ = first;
      for (const NetworkLayer& inner : branch)
        for (std::int64_t turn = 0; turn < inner.repeat; ++turn) layer(spelled_out(inner, at_.tensor, turn));
      const std::vector<std::uint32_t> left = reads_.empty() ? std::vector{last_operator()} : reads_;
      ends.insert(ends.end(), left.begin(), left.end());
      end.trained = end.trained || at_.trained;
      end.features = end.features || at_.features;
    }
    end.tensor = output(entry, start.tensor);
    at_ = entry.join == Join::drop ? start : end;
    reads_ = entry.join == Join::drop ? first : ends;
    if (entry.join != Join::drop) join(entry);
  }

  void join(const NetworkLayer& entry) {
    const bool several = entry.branches.size() > 1;
    if (entry.join == Join::concatenate) {
      if (several) stream(Kind::join, 2, 2);
    } else if (begin(Kind::join); s_.software.fused_norm_relu) {  // rides on the norm before it
      forward(values() * d(element_), 0);
      backward(values() * d(element_), 0);
    } else {
      forward(values() * (3 * d(element_)));
    }
    if (several) saves(values() * d(element_));
    if (entry.relu) relu(entry.join == Join::add);
  }

  /// The kernels of an entry that gives its backward pass.
  Kernels given(const std::vector<NetworkLayer>& entries) const {
    UnitWriter other(s_, at_);
    for (const NetworkLayer& entry : entries)
      for (std::int64_t turn = 0; turn < entry.repeat; ++turn) other.layer(entry);
    return std::move(other.list_.forward);
  }
  void append_backward(const std::vector<NetworkLayer>& entries) {
    std::ranges::move(given(entries), std::back_inserter(list_.backward));
  }

  /// With parameters the samples are more rows, without they are more multiplies of the batch.
  void gemm(const NetworkLayer& entry) {
    const double parameters = entry.parameters.value_or(d(entry.n) * d(entry.k));
    const bool weighted = parameters > 0;
    const std::int64_t m = weighted ? entry.m * samples_ : entry.m;
    const std::int64_t batch = weighted ? entry.batch : entry.batch * samples_;
    const auto multiply = [&](std::int64_t rows, std::int64_t columns, std::int64_t inner) {
      return Gemm{Kind::gemm, shape(rows, columns, inner, batch)};
    };
    begin(Kind::gemm);
    owns(parameters);
    list_.forward.push_back(multiply(m, entry.n, entry.k));
    if (entry.backward) {
      append_backward(*entry.backward);
    } else {
      Gemm of_second = multiply(entry.n, entry.k, m);  // the gradient of the second input, which may be a weight
      of_second.of_weights = weighted;
      of_second.shape.by_columns = true;
      list_.backward.push_back(of_second);
      if (at_.trained) list_.backward.push_back(multiply(m, entry.k, entry.n));
    }
    if (weighted) sum_over_tensor_ranks(parameters);
    at_.trained = at_.trained || weighted;
    at_.listed = d(entry.m) * d(entry.n) * d(entry.batch);
    saves(entry.saved ? *entry.saved * d(samples_) : d(m) * d(entry.n) * d(batch) * d(element_));
  }

  /// Passes on as much as it was given; the first one, what the first gemm reads.
  void elementwise(const NetworkLayer& entry) {
    begin(Kind::elementwise);
    if (at_.listed == 0) at_.listed = first_read(s_.model.network);
    forward(entry.bytes * d(samples_), entry.kernels);
    if (entry.backward)
      append_backward(*entry.backward);
    else if (at_.trained || entry.parameters.value_or(0) > 0)
      backward(entry.bytes * d(samples_), entry.kernels);
    if (entry.parameters) {
      sum_over_tensor_ranks(*entry.parameters);
      owns(*entry.parameters);
      at_.trained = at_.trained || *entry.parameters > 0;
    }
    saves(entry.saved.value_or(0) * d(samples_));
  }

  const Scenario& s_;
  LayerBoundary at_;
  const std::int64_t ranks_;
  const TensorMethod method_;
  const std::int64_t micro_batch_, samples_, element_;
  OperatorList list_;
  std::vector<std::uint32_t> reads_;  ///< by the next operator, where that is not the result of the last one
};

}  // namespace

Blocks network_blocks(const Scenario& s) {
  Blocks out;
  LayerBoundary at{s.model.network.input}, previous;
  const double element = d(element_bytes(s.training.precision));
  for (const NetworkLayer& entry : s.model.network.layers) {
    for (std::int64_t turn = 0; turn < entry.repeat; ++turn) {
      const LayerBoundary before = at;
      UnitWriter lowering(s, at);
      lowering.layer(spelled_out(entry, at.tensor, turn));
      at = lowering.at();
      if (turn > 1 && before == previous) {  // the same stride too, so the same block
        out.order.push_back(out.order.back());
        continue;
      }
      previous = before;
      Block block = lowering.take();
      if (s.recompute == Recompute::full) {
        const double input = passed(before) * d(s.training.micro_batch) / s.parallelism.tensor * element;
        block.recompute = block.forward;
        block.working = std::max(0.0, block.saved - input);
        block.saved = input;
      }
      out.order.push_back(static_cast<std::uint32_t>(out.kinds.size()));
      out.kinds.push_back(std::move(block));
    }
  }
  return out;
}

}  // namespace stepcast::schedules
