#include "models/layers/low_precision.h"

#include <utility>

#include "models/layers/adapter_counts.h"
#include "models/layers/as_double.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

constexpr double kHigh = 2;  // bytes of what is not cast

double elements(std::int64_t rows, std::int64_t columns, const GemmShape& shape) {
  return d(rows) * d(columns) * d(shape.batch);
}

/// Whether the frozen weights that are kept in 8 bits are turned for each gradient of a layer's input, where the GPU
/// needs that: no transpose is kept of them (disable_parameter_transpose_cache of Megatron-Bridge's recipes for
/// adapters, recipes/llama/llama3.py, and of MLPerf's llama2_70b_lora up to v4.1).
bool turns_weights(const Scenario& s) {
  return trains_adapters(s.training) && keeps_casts_alone(s.training) && s.training.precision == Precision::fp8 &&
         low_precision_copies(s) == 2;
}

/// Turns a cast of so many numbers from rows into columns, which the gradient of a weight reads.
Elementwise transpose(double numbers, double width) {
  return {OperatorKind::cast_transpose, 2 * width * numbers, 1, true};
}

/// Goes through one pass and writes it anew.
class Recast {
 public:
  Recast(const Scenario& s, bool backward)
      : s_(s),
        backward_(backward),
        nvfp4_(s.training.precision == Precision::nvfp4),
        block_scales_(nvfp4_ || s.training.precision == Precision::mxfp8),
        searches_(nvfp4_ || (s.training.scaling == Scaling::current && s.training.precision == Precision::fp8)),
        copies_(low_precision_copies(s)),
        input_copies_(trains_adapters(s.training) ? 1 : copies_),
        width_(cast_bytes(s.training.precision)) {}

  Kernels run(const Kernels& pass) {
    for (const Kernel& op : pass) {
      if (const auto* collective = std::get_if<TensorCollective>(&op))
        add(*collective);
      else if (const auto* gemm = std::get_if<Gemm>(&op); gemm != nullptr && gemm->linear)
        add(*gemm);
      else
        out_.push_back(op);
    }
    return std::move(out_);
  }

 private:
  /// Reads 16 bits, writes each copy; a scale of the tensor at hand has to be found in it first.
  /// `alone`: not by the norm before it, whose result is read by others too.
  /// `experts`: their inputs are cast one by one, each by as many kernels.
  void cast(double numbers, int copies, bool alone = false, std::int64_t experts = 1) {
    if (!alone && !searches_ && !backward_ && s_.software.fused_quantization && !out_.empty() && is_norm(out_.back()))
      std::get<Elementwise>(out_.back()).bytes += numbers * (copies * width_ - kHigh);  // the norm writes the copies
    else
      out_.push_back(Elementwise{.kind = OperatorKind::cast,
                                 .bytes = numbers * (kHigh * (searches_ ? 2 : 1) + copies * width_),
                                 .kernels = experts > 1 ? kernels_of_experts(experts)
                                            : searches_ ? 2
                                                        : 1,
                                 .by_expert = experts > 1});
  }

  /// Of Transformer Engine's tex.split_quantize (v2.12, transformer_engine/pytorch/csrc/extensions/cast.cpp and
  /// quantizer.cpp): with a scale that is looked for, a zero, a maximum, the scale and the cast for each expert; with
  /// block scales one cast for each; of NVFP4 and of delayed scales one for all.
  int kernels_of_experts(std::int64_t experts) const {
    if (nvfp4_) return 2;
    return block_scales_ ? static_cast<int>(experts) : searches_ ? 4 * static_cast<int>(experts) : 1;
  }

  /// Tensor ranks gather the casts of what enters a multiply: forward by rows; for the weight's gradient by columns,
  /// which Hopper makes of the rows by a transpose and block scales, which differ, have to gather on their own.
  void add(TensorCollective gather) {
    if (!gathers_input(gather) || gather.of_uncast || gather.kind == OperatorKind::adapter) {
      out_.push_back(gather);
      return;
    }
    const bool kept = backward_ && gather.of_saved_input;  // cast forward
    const double numbers = static_cast<double>(gather.bytes.value) / kHigh;
    if (!kept) {
      if (searches_) agree();
      cast(numbers / s_.parallelism.tensor, block_scales_ ? input_copies_ : 1);
      cast_ahead_ = true;
    }
    const int gathered = !kept && backward_ && block_scales_ ? input_copies_ : 1;
    gather.bytes = whole_bytes(numbers * width_ * gathered);
    out_.push_back(gather);
    // NVFP4's columns, which are stored as rows, arrive rank by rank and are put in order.
    if (backward_ && input_copies_ == 2 && (!block_scales_ || nvfp4_)) out_.push_back(transpose(numbers, width_));
  }

  /// The parts of a gathered tensor have one scale: ranks look for the largest number together, of NVFP4's rows and of
  /// its turned columns apart (Transformer Engine's with_amax_reduction, which quantizers with current scaling have of
  /// what sequence parallelism gathers).
  void agree() {
    const auto numbers = static_cast<std::int64_t>(nvfp4_ ? 2 * sizeof(float) : sizeof(float));
    out_.push_back(
        TensorCollective{OperatorKind::cast, collectives::Operation::all_reduce, Bytes{numbers}, false, Among::tensor});
  }

  void add(Gemm gemm) {
    gemm.low_precision = true;
    gemm.shape.input_bytes = width_;
    if (!gemm.of_weights) {
      if (!std::exchange(cast_ahead_, false))
        cast(elements(gemm.shape.m, gemm.shape.k, gemm.shape), input_copies_, adapters(s_, gemm.kind) > 0,
             s_.software.host_per_expert > Time{} ? gemm.shape.batch : 1);
      if (!backward_ && !keeps_casts_alone(s_.training)) {
        const double each = kHigh * (nvfp4_ ? 2 : 1) + copies_ * width_;
        const double weights = elements(gemm.shape.k, gemm.shape.n, gemm.shape);
        out_.push_back(Elementwise{OperatorKind::weight_cast, weights * each / passes(), 0});
      }
    }
    if (backward_ && turns_weights(s_) && !gemm.of_weights)
      out_.push_back(transpose(elements(gemm.shape.k, gemm.shape.n, gemm.shape), width_));
    out_.push_back(gemm);
  }

  /// Over which one cast of the weights is shared.
  double passes() const { return s_.data_parallel.zero == 3 ? 1 : micro_batches(s_); }

  const Scenario& s_;
  const bool backward_;
  const bool nvfp4_, block_scales_;
  const bool searches_;     ///< for the largest number, before it casts
  const int copies_;        ///< of a weight
  const int input_copies_;  ///< of what enters a multiply: those by columns are for gradients of weights
  const double width_;      ///< of a cast, bytes an element
  bool cast_ahead_ = false;
  Kernels out_;
};

/// What backward does on Hopper with inputs that were kept as forward gathered them, by rows: it turns them into
/// columns for the gradients of weights.
Kernels turned_inputs(const Kernels& forward, const Scenario& s) {
  Kernels out;
  if (s.software.gather_inputs_again || s.training.precision != Precision::fp8 || low_precision_copies(s) == 1 ||
      trains_adapters(s.training))
    return out;
  for (const Kernel& op : forward)
    if (const auto* gather = std::get_if<TensorCollective>(&op); gather != nullptr && gathers_input(*gather))
      out.push_back(transpose(d(gather->bytes.value) / kHigh, cast_bytes(s.training.precision)));
  return out;
}

}  // namespace

void use_low_precision(Block& layer, const Scenario& s) {
  const Kernels turned = turned_inputs(layer.forward, s);
  layer.forward = Recast(s, false).run(layer.forward);
  layer.recompute = Recast(s, false).run(layer.recompute);
  layer.backward = Recast(s, true).run(layer.backward);
  layer.backward.insert(layer.backward.begin(), turned.begin(), turned.end());
}

int low_precision_copies(const Scenario& s) {
  constexpr std::uint32_t kBlackwell = 100;
  return s.training.precision != Precision::fp8 || s.cluster.gpu.compute_capability < kBlackwell ? 2 : 1;
}

double cast_bytes(Precision precision) { return precision == Precision::nvfp4 ? 0.5 + 1.0 / 16 : 1; }

double low_precision_weights(const Block& layer) {
  if (layer.frozen) return 0;
  double sum = 0;
  for (const Kernel& op : layer.forward)
    if (const auto* gemm = std::get_if<Gemm>(&op); gemm != nullptr && gemm->low_precision)
      sum += elements(gemm->shape.k, gemm->shape.n, gemm->shape);
  return sum;
}

bool keeps_casts(const Scenario& s) {
  return is_low_precision(s.training.precision) && s.training.scaling != Scaling::rowwise;
}

double kept_input_bytes(const Scenario& s) {
  const Precision precision = s.training.precision;
  return keeps_casts(s) ? cast_bytes(precision) : d(element_bytes(precision));
}

double kept_weight_cast_bytes(const Scenario& s) {
  if (!keeps_casts(s)) return 0;
  const double parameter = keeps_casts_alone(s.training) ? d(element_bytes(s.training.precision)) : 0;
  const int copies = turns_weights(s) ? 1 : low_precision_copies(s);
  return copies * cast_bytes(s.training.precision) - parameter;
}

bool attends_in_eight_bits(const Scenario& s) {
  return s.software.eight_bit_attention && is_eight_bits(s.training.precision);
}

}  // namespace stepcast::schedules
