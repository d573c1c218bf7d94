#include "schedules/model/multiply_pair.h"

#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double bytes(const Writer& w, std::int64_t width) {
  return static_cast<double>(w.z.tokens) * static_cast<double>(width) * static_cast<double>(w.z.element);
}

/// Columns lie in rows, so parts of them are copied out and in: read and written.
void cut_own(Writer& w, std::int64_t width) { w.touch("own part of columns", 2 * bytes(w, width)); }
void join(Writer& w, std::int64_t width) { w.touch("join parts of columns", 2 * bytes(w, width)); }

void gather(Writer& w, std::string_view name, std::int64_t width) {
  w.collective(name, Operation::all_gather, bytes(w, width));
  join(w, width);
}

/// Both gradients of a multiply of `in` to `out` columns on this rank. What its ranks then exchange runs under the
/// second one where the software overlaps.
void gradients(Writer& w, std::string_view input, std::string_view weight, std::int64_t out, std::int64_t in,
               std::string_view traffic, Operation operation, std::int64_t width) {
  w.gemm(input, w.z.tokens, out, in);
  if (operation == Operation::reduce_scatter) join(w, width);
  w.weight_gradient_and([&](bool hide) { w.collective(traffic, operation, bytes(w, width), hide); }, weight, out, in);
  if (operation == Operation::all_gather) join(w, width);
}

}  // namespace

void first_multiply(Writer& w, std::string_view name, std::int64_t columns) {
  const StackSizes& z = w.z;
  if (z.method != TensorMethod::reduce_output) {
    gather_input(w);
    w.gather_weight(z.width, columns);
    w.gemm(name, z.tokens, z.width, columns);
    return w.sum_over_rows("sum of the output over rows", columns);
  }
  cut_own(w, z.hidden / z.tensor);
  w.gemm(name, z.tokens, z.hidden / z.tensor, columns * z.tensor);
  join(w, columns * z.tensor);
  w.collective("reduce-scatter of the output", Operation::reduce_scatter, bytes(w, columns * z.tensor));
}

void second_multiply(Writer& w, std::string_view name, std::int64_t inner) {
  const StackSizes& z = w.z;
  if (z.method != TensorMethod::partition_output) {
    w.gather_weight(inner, z.width);
    w.gemm(name, z.tokens, inner, z.width);
    return reduce_output(w);
  }
  gather(w, "all-gather of the input", inner * z.tensor);
  w.gemm(name, z.tokens, inner * z.tensor, z.hidden / z.tensor);
  gather(w, "all-gather of the output", z.hidden);
}

void second_multiply_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t inner) {
  const StackSizes& z = w.z;
  if (z.method != TensorMethod::partition_output) return row_split_backward(w, input, weight, inner);
  cut_own(w, z.hidden / z.tensor);
  gradients(w, input, weight, z.hidden / z.tensor, inner * z.tensor, "sum of the input's gradient",
            Operation::reduce_scatter, inner * z.tensor);
}

void first_multiply_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t columns) {
  const StackSizes& z = w.z;
  if (z.method != TensorMethod::reduce_output) return column_split_backward(w, input, weight, columns);
  gather(w, "all-gather of the output's gradient", columns * z.tensor);
  gradients(w, input, weight, columns * z.tensor, z.hidden / z.tensor, "all-gather of the input's gradient",
            Operation::all_gather, z.hidden);
}

}  // namespace stepcast::schedules
