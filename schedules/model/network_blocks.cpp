#include "schedules/model/network_blocks.h"

#include <algorithm>
#include <iterator>

#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = LayerKind;

double d(std::int64_t n) { return static_cast<double>(n); }

Bytes bytes(double n) { return whole_bytes(n); }

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::max_pool:
      return "max pool";
    case Kind::average_pool:
      return "average pool";
    case Kind::dropout:
      return "dropout";
    default:
      return "elementwise";
  }
}

/// What is known between two layers.
struct Place {
  Tensor tensor;
  bool trained = false;   ///< parameters stand before: a gradient is wanted here
  bool features = false;  ///< behind the first `linear`: tensor ranks share features, not samples
  bool paired = false;    ///< TensorMethod::megatron: the next `linear` is the second of a pair
  friend bool operator==(const Place&, const Place&) = default;
};

/// Lowers one unit. Each layer adds its forward operators, and its backward operators in front of those of the layers
/// before it.
class Lowering {
 public:
  Lowering(const Scenario& scenario, Place at)
      : s_(scenario),
        at_(at),
        ranks_(scenario.parallelism.tensor),
        method_(tensor_method(scenario)),
        micro_batch_(scenario.training.micro_batch),
        samples_(micro_batch_ / ranks_),
        element_(element_bytes(scenario.training.precision)) {}

  Place at() const { return at_; }

  Block take() {
    Block block{.name = "unit", .layer = true};
    block.forward = std::move(forward_);
    std::reverse(backward_.begin(), backward_.end());
    for (Operators& part : backward_) std::ranges::move(part, std::back_inserter(block.backward));
    block.parameters = parameters_;
    block.saved = saved_;
    block.output = values() * d(ranks_) * d(element_);
    return block;
  }

  void layer(const NetworkLayer& once) {
    switch (once.kind) {
      case Kind::convolution:
        return convolution(once);
      case Kind::linear:
        return linear(once);
      case Kind::max_pool:
      case Kind::average_pool:
        return pool(once);
      case Kind::batch_norm:
        return norm();
      case Kind::relu:
        return relu();
      case Kind::dropout:
        return dropout();
      case Kind::branches:
        return branches(once);
      case Kind::gemm:
        return gemm(once);
      case Kind::elementwise:
        return elementwise(once);
      case Kind::bottleneck:
      case Kind::basic:
        return;  // spelled out as branches
    }
  }

 private:
  /// Values of all samples on this rank at this place.
  double values(const Tensor& tensor) const {
    return tensor.values() * (at_.features ? d(micro_batch_) / d(ranks_) : d(samples_));
  }
  double values() const { return values(at_.tensor); }

  void touch(Operators& into, std::string_view name, double values, double bytes_each, int kernels = 1) const {
    into.push_back(Elementwise{name, values * bytes_each, kernels});
  }

  /// Streams `forward` and `backward` elements for each value here.
  void stream(std::string_view name, std::string_view gradient, double forward, double backward, int kernels = 1) {
    touch(forward_, name, values(), forward * d(element_), kernels);
    Operators back;
    if (at_.trained) touch(back, gradient, values(), backward * d(element_), kernels);
    backward_.push_back(std::move(back));
  }

  bool transposes() const { return !s_.software.channels_last && element_ == 2; }

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

    const auto relayout = [&](Operators& into, double moved) {
      if (transposes()) into.push_back(Elementwise{"to and from channels last", 2 * moved, 2});
    };
    relayout(forward_, in_bytes + out_bytes);
    forward_.push_back(Convolution{"convolution", shape(out_pixels, out_group, in_group * taps, g),
                                   in_bytes + weight_bytes, winograd});

    Operators back;
    relayout(back, in_bytes + out_bytes);
    back.push_back(Convolution{"convolution: gradient of weight", shape(out_group, in_group * taps, out_pixels, g),
                               in_bytes + out_bytes, winograd, true});
    sum_over_tensor_ranks(back, weights);
    if (at_.trained) {
      relayout(back, in_bytes + out_bytes);
      // With a stride each pixel of the input has met only some of the kernel's.
      const std::int64_t met = std::max<std::int64_t>(1, out_group * taps / stride2);
      back.push_back(Convolution{"convolution: gradient of input", shape(in_pixels, in_group, met, g),
                                 out_bytes + weight_bytes, winograd});
    }
    backward_.push_back(std::move(back));

    at_.tensor = out;
    at_.trained = true;
    parameters_ += weights;
    saved_ += out_bytes;
    if (once.bias) bias(once.out);
    if (once.norm) {
      norm();
      if (!once.relu) saved_ -= out_bytes;  // an addition follows, which keeps nothing of its own
    }
    if (once.relu) relu(once.norm);
  }

  GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) const {
    return {m, n, k, batch, d(element_), element_};
  }

  /// Gradients of what every tensor rank holds for its own samples; beside the kernel that follows, where the software
  /// overlaps.
  void sum_over_tensor_ranks(Operators& into, double parameters) const {
    if (ranks_ == 1) return;
    const double moved = parameters * d(element_bytes(gradient_precision(s_)));
    into.push_back(TensorCollective{"all-reduce of gradients", Operation::all_reduce, bytes(moved), data_overlap(s_)});
  }

  void exchange(Operators& into, std::string_view name, Operation operation, double features) const {
    if (ranks_ == 1) return;
    into.push_back(TensorCollective{name, operation, bytes(features * d(micro_batch_) * d(element_)), false});
  }

  void linear(const NetworkLayer& once) {
    const bool by_rows = method_ == TensorMethod::reduce_output || at_.paired;
    if (by_rows)
      linear_by_rows(once);
    else
      linear_by_columns(once);
    at_ = {output(once, at_.tensor), true, true, method_ == TensorMethod::megatron && !by_rows};
    saved_ += values() * d(element_);
    if (once.bias) bias(once.out / ranks_);
    if (once.relu) relu();
  }

  Gemm plain(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k) const {
    return {name, shape(m, n, k, 1)};
  }
  Gemm gradient_of_weight(std::int64_t columns, std::int64_t rows) const {
    Gemm of_weight = plain("linear: gradient of weight", columns, rows, micro_batch_);
    of_weight.of_weights = true;
    return of_weight;
  }

  /// Columns, which are the output's features, are shared by the tensor ranks.
  void linear_by_columns(const NetworkLayer& once) {
    const double features = at_.tensor.values();
    const auto columns = once.out / ranks_, rows = static_cast<std::int64_t>(features);
    exchange(forward_, "all-gather of features", Operation::all_gather, features);
    forward_.push_back(plain("linear", micro_batch_, columns, rows));
    Operators back{gradient_of_weight(columns, rows)};
    if (at_.trained) {
      back.push_back(plain("linear: gradient of input", micro_batch_, rows, columns));
      exchange(back, "reduce-scatter of features' gradient", Operation::reduce_scatter, features);
    }
    backward_.push_back(std::move(back));
    parameters_ += features * d(columns);
  }

  /// Rows, which are the input's features, are; each rank's partial outputs are summed, and their features shared.
  /// Ranks that had samples to share change them for features first.
  void linear_by_rows(const NetworkLayer& once) {
    const auto rows = static_cast<std::int64_t>(at_.tensor.values()) / ranks_;
    if (!at_.features) exchange(forward_, "all-to-all of samples", Operation::all_to_all, d(rows));
    forward_.push_back(plain("linear", micro_batch_, once.out, rows));
    exchange(forward_, "reduce-scatter of features", Operation::reduce_scatter, d(once.out));
    Operators back;
    exchange(back, "all-gather of features' gradient", Operation::all_gather, d(once.out));
    back.push_back(gradient_of_weight(once.out, rows));
    if (at_.trained) {
      back.push_back(plain("linear: gradient of input", micro_batch_, rows, once.out));
      if (!at_.features) exchange(back, "all-to-all of features' gradient", Operation::all_to_all, d(rows));
    }
    backward_.push_back(std::move(back));
    parameters_ += d(rows) * d(once.out);
  }

  void bias(std::int64_t parameters) {
    stream("bias", "bias gradient", 2, 1);
    parameters_ += d(parameters);
  }

  /// Forward reads twice, once for the statistics; backward likewise both its inputs.
  void norm() {
    at_.trained = true;
    stream("batch norm", "batch norm gradient", 3, 5, s_.software.fused_norm_relu ? 1 : 2);
    parameters_ += 2 * d(at_.tensor.channels);
    saved_ += values() * d(element_);
  }

  /// In place: what it leaves is what the next layer keeps anyway.
  void relu(bool behind_norm = false) {
    if (behind_norm && s_.software.fused_norm_relu) return;
    stream("relu", "relu gradient", 2, 3);
  }

  void dropout() {
    constexpr double kMask = 1;  // bytes an element
    stream("dropout", "dropout gradient", 2 + kMask / d(element_), 2 + kMask / d(element_));
    saved_ += values() * (d(element_) + kMask);
  }

  void pool(const NetworkLayer& once) {
    constexpr double kIndex = 8;  // where a maximum was, an int64
    const double index = once.kind == Kind::max_pool ? kIndex : 0, in = values();
    at_.tensor = output(once, at_.tensor);
    const double moved = in * d(element_) + values() * (d(element_) + index);
    forward_.push_back(Elementwise{name_of(once.kind), moved, 1});
    Operators back;
    if (at_.trained) back.push_back(Elementwise{"pool gradient", moved, 1});
    backward_.push_back(std::move(back));
    saved_ += values() * (d(element_) + index);
  }

  void branches(const NetworkLayer& entry) {
    const Place start = at_;
    Place end = start;
    const double start_values = values();
    if (start.trained && entry.branches.size() > 1) {  // gradients that come back from the branches are added up
      Operators back;
      touch(back, "sum of the branches' gradients", start_values, 3 * d(element_) * d(std::ssize(entry.branches) - 1));
      backward_.push_back(std::move(back));
    }
    for (const std::vector<NetworkLayer>& branch : entry.branches) {
      at_ = start;
      for (const NetworkLayer& inner : branch)
        for (std::int64_t turn = 0; turn < inner.repeat; ++turn) layer(spelled_out(inner, at_.tensor, turn));
      end.trained = end.trained || at_.trained;
      end.features = end.features || at_.features;
    }
    end.tensor = output(entry, start.tensor);
    if (entry.join == Join::drop) {
      at_ = start;
      return;
    }
    at_ = end;
    if (entry.join == Join::concatenate) {
      if (entry.branches.size() > 1) stream("concatenation", "split of the gradient", 2, 2);
    } else if (s_.software.fused_norm_relu) {  // rides on the norm before it
      const double each = values() * d(element_);
      forward_.push_back(Elementwise{"addend of the fused kernel", each, 0});
      backward_.push_back({Elementwise{"gradient of the addend", each, 0}});
    } else {
      touch(forward_, "addition", values(), 3 * d(element_));
    }
    if (entry.branches.size() > 1) saved_ += values() * d(element_);
    if (entry.relu) relu(entry.join == Join::add);
  }

  /// The backward operators of an entry that gives them.
  Operators given(const std::vector<NetworkLayer>& list) const {
    Lowering other(s_, at_);
    for (const NetworkLayer& entry : list)
      for (std::int64_t turn = 0; turn < entry.repeat; ++turn) other.layer(entry);
    return std::move(other.forward_);
  }

  /// With parameters the samples are more rows, without they are more multiplies of the batch.
  void gemm(const NetworkLayer& entry) {
    const double parameters = entry.parameters.value_or(d(entry.n) * d(entry.k));
    const bool weighted = parameters > 0;
    const std::int64_t m = weighted ? entry.m * samples_ : entry.m;
    const std::int64_t batch = weighted ? entry.batch : entry.batch * samples_;
    forward_.push_back(Gemm{"gemm", shape(m, entry.n, entry.k, batch)});
    Operators back;
    if (entry.backward) {
      back = given(*entry.backward);
    } else {
      back.push_back(Gemm{"gemm: gradient of the second input", shape(entry.k, entry.n, m, batch)});
      if (at_.trained) back.push_back(Gemm{"gemm: gradient of the first input", shape(m, entry.k, entry.n, batch)});
    }
    if (weighted) sum_over_tensor_ranks(back, parameters);
    backward_.push_back(std::move(back));
    at_.trained = at_.trained || weighted;
    parameters_ += parameters;
    saved_ += entry.saved ? *entry.saved * d(samples_) : d(m) * d(entry.n) * d(batch) * d(element_);
  }

  void elementwise(const NetworkLayer& entry) {
    forward_.push_back(Elementwise{"elementwise", entry.bytes * d(samples_), entry.kernels});
    Operators back;
    if (entry.backward)
      back = given(*entry.backward);
    else if (at_.trained || entry.parameters.value_or(0) > 0)
      back.push_back(Elementwise{"elementwise gradient", entry.bytes * d(samples_), entry.kernels});
    if (entry.parameters) {
      sum_over_tensor_ranks(back, *entry.parameters);
      parameters_ += *entry.parameters;
      at_.trained = at_.trained || *entry.parameters > 0;
    }
    backward_.push_back(std::move(back));
    saved_ += entry.saved.value_or(0) * d(samples_);
  }

  const Scenario& s_;
  Place at_;
  const std::int64_t ranks_;
  const TensorMethod method_;
  const std::int64_t micro_batch_, samples_, element_;
  Operators forward_;
  std::vector<Operators> backward_;
  double parameters_ = 0, saved_ = 0;
};

}  // namespace

Blocks network_blocks(const Scenario& s) {
  Blocks out;
  Place at{s.model.network.input}, previous;
  const double element = d(element_bytes(s.training.precision));
  for (const NetworkLayer& entry : s.model.network.layers) {
    for (std::int64_t turn = 0; turn < entry.repeat; ++turn) {
      const Place before = at;
      Lowering lowering(s, at);
      lowering.layer(spelled_out(entry, at.tensor, turn));
      at = lowering.at();
      if (turn > 1 && before == previous) {  // the same stride too, so the same block
        out.order.push_back(out.order.back());
        continue;
      }
      previous = before;
      Block block = lowering.take();
      if (s.recompute == Recompute::full) {
        const double input = before.tensor.values() * d(s.training.micro_batch) / s.parallelism.tensor * element;
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
