#include "models/layers/rowwise_scaling.h"

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

constexpr double kWide = 2, kNarrow = 1;  ///< bytes of a number before and behind a cast

// Bytes that each number moves. The kernel that has a row has its largest number too, and casts it as it is read; along
// columns a turned copy is written first and cast by its rows. What reads an activation for its rows writes the turned
// copy as well; of a weight, which backward needs by columns alone, that is a kernel of its own.
constexpr double kByRows = kWide + kNarrow;
constexpr double kByColumns = kWide + kWide + kNarrow;  ///< the copy written, read and cast
constexpr double kWeightByColumns = kWide + kByColumns;
constexpr double kScaled = kWide + kWide;  ///< a product is read, scaled and written
constexpr int kColumnKernels = 2;

/// What is no linear multiply stays as it is, but that nothing runs beside a gather of tokens: what it brings is cast
/// before it is multiplied.
Kernel beside_multiplies(const Kernel& op) {
  const auto* traffic = std::get_if<TensorCollective>(&op);
  if (traffic == nullptr || !gathers_input(*traffic)) return op;
  TensorCollective gather = *traffic;
  gather.under_next = false;
  gather.parts = 1;
  return gather;
}

/// Numbers of a multiply's two inputs and of its result.
struct Numbers {
  explicit Numbers(const GemmShape& shape)
      : first(d(shape.m) * d(shape.k) * d(shape.batch)),
        second(d(shape.k) * d(shape.n) * d(shape.batch)),
        result(d(shape.m) * d(shape.n) * d(shape.batch)) {}

  double first, second, result;
};

/// A pass whose linear multiplies `cast` writes, behind what stands before them.
template <class Cast>
Kernels with_casts(const Kernels& pass, const Cast& cast) {
  Kernels out;
  for (const Kernel& op : pass) {
    const auto* multiply = std::get_if<Gemm>(&op);
    if (multiply != nullptr && multiply->linear)
      cast(*multiply, Numbers(multiply->shape), out);
    else
      out.push_back(beside_multiplies(op));
  }
  return out;
}

/// A pass forward, or what backward repeats of it, with its multiplies cast.
Kernels forward_by_rows(const Kernels& pass, const Scenario& s) {
  return with_casts(pass, [&](Gemm multiply, const Numbers& numbers, Kernels& out) {
    if (s.software.fused_quantization && !out.empty() && is_norm(out.back()))
      std::get<Elementwise>(out.back()).bytes += numbers.first * kNarrow;  // the norm, which has the row, writes it too
    else
      out.push_back(Elementwise{OperatorKind::cast, numbers.first * kByRows});
    out.push_back(Elementwise{OperatorKind::weight_cast, numbers.second * kByRows});
    multiply.low_precision = multiply.scales_rows = true;
    multiply.shape.input_bytes = kNarrow;
    out.push_back(multiply);
  });
}

/// Backward of the same: the multiply for the input's gradient comes before the weight's, which finds both of its
/// inputs cast.
Kernels backward_by_rows(const Kernels& pass) {
  return with_casts(pass, [](Gemm multiply, const Numbers& numbers, Kernels& out) {
    if (!multiply.of_weights) {
      const double gradient = numbers.first, input = numbers.result;
      out.push_back(Elementwise{OperatorKind::cast, gradient * kByRows, 1, false, true});
      out.push_back(Elementwise{OperatorKind::cast_transpose, gradient * kByColumns, kColumnKernels, true, true});
      out.push_back(Elementwise{OperatorKind::cast_transpose, input * kByColumns, kColumnKernels, true, true});
      out.push_back(
          Elementwise{OperatorKind::weight_cast, numbers.second * kWeightByColumns, kColumnKernels, false, true});
    }
    multiply.low_precision = true;
    multiply.shape.input_bytes = kNarrow;
    out.push_back(multiply);
    out.push_back(Elementwise{OperatorKind::product_scale, numbers.result * kScaled, 1, multiply.of_weights, true});
  });
}

}  // namespace

void use_rowwise_scaling(Block& layer, const Scenario& s) {
  layer.forward = forward_by_rows(layer.forward, s);
  layer.recompute = forward_by_rows(layer.recompute, s);
  layer.backward = backward_by_rows(layer.backward);
}

}  // namespace stepcast::schedules
