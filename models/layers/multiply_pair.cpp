#include "models/layers/multiply_pair.h"

#include "models/layers/low_precision.h"
#include "models/layers/shared_operators.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double bytes_of(const StackSizes& z, std::int64_t width) {
  return static_cast<double>(z.tokens) * static_cast<double>(width) * static_cast<double>(z.element);
}

/// Columns lie in rows, so parts of them are copied out and in: read and written.
void cut_own(PassWriter& w, std::int64_t width) { w.touch(2 * bytes_of(w.z, width)); }
void join(PassWriter& w, std::int64_t width) { w.touch(2 * bytes_of(w.z, width)); }

void gather(PassWriter& w, std::int64_t width) {
  w.collective(Operation::all_gather, bytes_of(w.z, width));
  join(w, width);
}

/// Both gradients of a multiply of `in` to `out` columns on this rank. What its ranks then exchange runs under the
/// second one where the software overlaps.
void gradients(PassWriter& w, std::int64_t out, std::int64_t in, Operation operation, std::int64_t width) {
  w.gemm(w.z.tokens, out, in);
  if (operation == Operation::reduce_scatter) join(w, width);
  w.weight_gradient_and([&](bool hide) { w.collective(operation, bytes_of(w.z, width), hide); }, out, in);
  if (operation == Operation::all_gather) join(w, width);
}

/// Every tensor rank owns as much of a matrix, however it is cut.
double own_part(const StackSizes& z, std::int64_t columns) {
  return static_cast<double>(z.width) * static_cast<double>(columns) / z.grid.depth;
}

}  // namespace

void first_multiply(Writer& w, OperatorKind kind, std::int64_t columns) {
  const StackSizes& z = w.z;
  PassWriter &f = w.forward, &b = w.backward;
  w.begin(kind);
  w.owns(own_part(z, columns));
  if (z.method != TensorMethod::reduce_output) {
    w.gathers_input(z.residual * kept_input_bytes(w.s));
    f.gather_weight(z.width, columns);
    f.gemm(z.tokens, z.width, columns);
    f.sum_over_rows(columns);
    return column_split_backward(w, columns);
  }
  cut_own(f, z.hidden / z.tensor);
  f.gemm(z.tokens, z.hidden / z.tensor, columns * z.tensor);
  join(f, columns * z.tensor);
  f.collective(Operation::reduce_scatter, bytes_of(z, columns * z.tensor));
  gather(b, columns * z.tensor);
  gradients(b, columns * z.tensor, z.hidden / z.tensor, Operation::all_gather, z.hidden);
}

void second_multiply(Writer& w, OperatorKind kind, std::int64_t inner) {
  const StackSizes& z = w.z;
  PassWriter &f = w.forward, &b = w.backward;
  w.begin(kind);
  w.owns(own_part(z, inner));
  if (z.method != TensorMethod::partition_output) {
    f.gather_weight(inner, z.width);
    f.gemm(z.tokens, inner, z.width);
    reduce_output(w);
    return row_split_backward(w, inner);
  }
  gather(f, inner * z.tensor);
  f.gemm(z.tokens, inner * z.tensor, z.hidden / z.tensor);
  gather(f, z.hidden);
  cut_own(b, z.hidden / z.tensor);
  gradients(b, z.hidden / z.tensor, inner * z.tensor, Operation::reduce_scatter, inner * z.tensor);
}

}  // namespace stepcast::schedules
