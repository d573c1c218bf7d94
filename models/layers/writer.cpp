#include "models/layers/writer.h"

#include "models/layers/adapter_counts.h"
#include "models/layers/as_double.h"
#include "models/layers/autocast.h"
#include "models/layers/low_precision.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

}  // namespace

void PassWriter::gemm(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, int kernels, double useful) {
  unpack_weights(d(k) * d(n) * d(batch), kernels);
  if (!backward_ && autocasts(s)) touch(d(k) * d(n) * d(batch) * (kFp32 + d(z.element)), kernels);
  run(Gemm{{}, {m, n, k, batch, d(z.element), z.element}, false, kernels, true, false, useful});
}

void PassWriter::weight_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from, std::int64_t batch,
                                 int kernels, double useful) {
  accumulate({{}, {rows, columns, from > 0 ? from : z.tokens, batch}, true, kernels, true, false, useful});
}

/// bitsandbytes makes 16 bits of 4 before it multiplies; not of the head's.
void PassWriter::unpack_weights(double elements, int kernels) {
  if (!keeps_four_bits(s.training) || kind() == OperatorKind::logits) return;
  if (s.training.lora.base == BaseWeights::nf4_double_quant)  // scales in 8 bits to fp32 first
    touch(elements * (base_weight_bytes(s.training) + four_bit_bytes(BaseWeights::nf4) - 1), kernels);
  touch(elements * (four_bit_bytes(BaseWeights::nf4) + d(z.element)), kernels);
}

void PassWriter::product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch) {
  run(Gemm{{}, {m, n, k, batch, d(z.element), z.element}});
}

void PassWriter::head_product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, std::int64_t width) {
  constexpr std::int64_t kAligned = 16;  // bytes at a multiple of which a head begins that matrix units read
  const Gpu& gpu = s.cluster.gpu;
  const bool cublas = gpu.compute_capability > 0;
  const bool plain = s.software.unaligned_heads_on_plain_cores && cublas && width * z.element % kAligned != 0 &&
                     gpu.peak.contains(Precision::fp32);
  run(Gemm{.shape = {m, n, k, batch, d(z.element), z.element}, .plain_cores = plain});
}

void PassWriter::product_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from) {
  accumulate({{}, {rows, columns, from}, true});
}

void PassWriter::narrow_product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, int kernels) {
  run(Gemm{{}, {m, n, k, batch, d(z.element), z.element}, false, kernels});
}

void PassWriter::narrow_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from, std::int64_t batch,
                                 int kernels) {
  accumulate({{}, {rows, columns, from, batch}, true, kernels});
}

void PassWriter::touch_for_weights(double bytes_moved) {
  if (!trains_adapters(s.training)) touch(bytes_moved);
}

void PassWriter::accumulate(Gemm gradient) {
  if (trains_adapters(s.training) && kind() != OperatorKind::adapter) return;
  const std::int64_t main = element_bytes(s.software.main_gradient_precision);
  const bool shared = z.grid.depth > 1;  // summed over the grids in depth first
  const bool fused = s.software.fused_gradient_accumulation && !shared;
  GemmShape& shape = gradient.shape;
  shape.by_columns = true;
  shape.input_bytes = d(z.element);
  shape.output_bytes = fused ? 2 * main : z.element;
  run(gradient);
  if (fused) return;
  // What is accumulated while the sum is on its way takes as long later.
  if (!overlaps()) scatter_gradient(shape.m, shape.n, z.element, false);
  const double numbers = d(shape.m) * d(shape.n) * d(shape.batch) / z.grid.depth;
  // Autocast's weights are in fp32, so their gradients are cast before they are added.
  const bool casts = autocasts(s);
  if (casts) run(Elementwise{{}, numbers * (d(z.element) + kFp32), gradient.kernels, true, true});
  run(Elementwise{{}, numbers * ((casts ? kFp32 : d(z.element)) + 2 * d(main)), gradient.kernels, true, true});
  if (overlaps()) scatter_gradient(shape.m, shape.n, z.element, true);
}

void PassWriter::gather_weight(std::int64_t rows, std::int64_t columns) {
  if (z.grid.depth > 1) exchange(Among::tensor_depth, Operation::all_gather, d(rows) * d(columns) * d(z.element));
}

void PassWriter::scatter_gradient(std::int64_t rows, std::int64_t columns, std::int64_t element, bool under_next) {
  if (z.grid.depth == 1) return;
  exchange(Among::tensor_depth, Operation::reduce_scatter, d(rows) * d(columns) * d(element), under_next);
  std::get<TensorCollective>(out().back()).of_weights = true;
}

void PassWriter::sum_over_rows(std::int64_t width, bool under_next) {
  if (z.grid.rows > 1)
    exchange(Among::tensor_column, Operation::all_reduce, d(z.tokens) * d(width) * d(z.element), under_next);
}

void PassWriter::sum_statistics_over_rows(int of_a_token) {
  constexpr double kFloat = 4;
  if (z.grid.rows > 1) exchange(Among::tensor_column, Operation::all_reduce, d(z.tokens) * of_a_token * kFloat);
}

void PassWriter::sum_over_kv_copies() {
  if (z.kv_copies > 1)
    exchange(Among::kv_copies, Operation::all_reduce, (z.projected - d(z.tokens) * d(z.queries)) * d(z.element));
}

void PassWriter::touch(double bytes_moved, int kernels) {
  run(Elementwise{{}, bytes_moved, kernels, false, backward_});
}

void PassWriter::touch_and_wait(double bytes_moved, int kernels) {
  run(Elementwise{.bytes = bytes_moved, .kernels = kernels, .backward = backward_, .host_waits = true});
}

void PassWriter::collective(Operation operation, bool under_next) { collective(operation, z.hidden_bytes, under_next); }

void PassWriter::collective(Operation operation, double size, bool under_next) {
  if (z.grid.columns > 1) exchange(Among::tensor, operation, size, under_next);
}

void PassWriter::gather_input() { gather_input(z.hidden_bytes); }

void PassWriter::gather_input(double bytes) {
  if (!z.split_sequence) return;
  // Adapters keep what was gathered, and nothing else of backward reads it.
  if (backward_ && (!s.software.gather_inputs_again || trains_adapters(s.training))) return;
  collective(Operation::all_gather, bytes, backward_ && overlaps());
  if (backward_)
    std::get<TensorCollective>(out().back()).of_saved_input = true;
  else if (adapters(s, kind()) == 0)
    in_parts();
  else if (z.grid.columns > 1)
    std::get<TensorCollective>(out().back()).of_uncast = !gathers_for_adapters(s);
}

void PassWriter::in_parts() {
  if (tensor_overlap(s) != TensorOverlap::all || !z.split_sequence) return;
  auto& traffic = std::get<TensorCollective>(out().back());
  // A ring passes every rank's part on, and PyTorch sends each rank its own; Transformer Engine's num_splits otherwise.
  constexpr int kSplits = 4;
  const bool of_each_rank = traffic.operation == Operation::all_gather || s.software.micro_pipeline;
  traffic.parts = of_each_rank ? static_cast<int>(z.tensor) : kSplits;
}

void PassWriter::exchange(Among among, Operation operation, double size, bool under_next) {
  run(TensorCollective{{}, operation, whole_bytes(size), under_next, among});
}

void PassWriter::fused_attention(double flops) {
  const double rows = d(z.batch_heads) * d(z.sequence) / d(z.context);
  run(FusedAttention{{},
                     {flops},
                     rows,
                     backward_,
                     backward_ ? 2 : 1,
                     z.causal,
                     z.key_width,
                     z.value_width,
                     attends_in_eight_bits(s),
                     d(z.window) / d(z.sequence),
                     z.chunks});
}

void Writer::reads_also(OperatorKind kind) {
  const auto here = static_cast<std::uint32_t>(list_.operators.size() - 1);
  for (std::uint32_t of = here; of-- > 0;)
    if (list_.operators[of].kind == kind) {
      list_.inputs.push_back({here, here - 1});
      list_.inputs.push_back({here, of});
      return;
    }
}

void Writer::gathers_input(double own) {
  forward.gather_input();
  keeps_gathered(own);
}

void Writer::keeps_gathered(double own) {
  if (!z.split_sequence || s.software.gather_inputs_again || trains_adapters(s.training)) return;
  saves(own * static_cast<double>(z.tensor - 1));
}

void Writer::owns_of_experts(double parameters, bool shared_out) {
  here().parameters += parameters;
  if (shared_out) here().expert_parameters += parameters;
}

}  // namespace stepcast::schedules
