#include "schedules/model/writer.h"

#include <iterator>
#include <utility>

#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

Bytes bytes(double n) { return whole_bytes(n); }

}  // namespace

StackSizes stack_sizes(const Scenario& s, std::int64_t sequence, bool causal) {
  const std::int64_t t = s.parallelism.tensor;
  const Model& m = s.model;
  StackSizes z{};
  z.grid = grid(s.parallelism);
  const std::int64_t columns = z.grid.columns;
  z.samples = s.training.micro_batch / z.grid.depth;
  z.tensor = t;
  z.method = t > 1 ? tensor_method(s) : TensorMethod::megatron;
  z.context = s.parallelism.context;
  z.tokens = z.samples * sequence / z.context;
  z.batch_heads = z.samples * m.heads / columns;
  z.sequence = z.keys = sequence;
  z.hidden = m.hidden;
  z.width = m.hidden / z.grid.rows;
  z.heads = m.heads / columns;
  const bool latent = m.latent.kv_rank > 0;
  z.key_width = latent ? m.latent.head + m.latent.rotary : head_width(m);
  z.value_width = latent ? m.latent.value : z.key_width;
  z.queries = m.heads * z.key_width / columns;
  z.kv_copies = kv_copies(m, columns);
  z.keys_values = kv_heads(m) * z.kv_copies * (z.key_width + z.value_width) / columns;
  z.attention_out = m.heads * z.value_width / columns;
  z.ffn = m.ffn / columns;
  z.vocab = m.vocab > 0 ? vocab_rows(m, z.grid.columns) : 0;
  z.element = element_bytes(s.training.precision);
  z.split_sequence = s.parallelism.sequence && t > 1;
  z.residual = d(z.tokens) * d(z.width) / (z.split_sequence ? d(t) : 1.0);
  z.inner = d(z.tokens) * d(z.ffn);
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.keys);
  z.projected = d(z.tokens) * d(z.query_key_value());
  z.hidden_bytes = d(z.tokens) * d(z.width) * d(z.element);
  z.causal = causal;
  return z;
}

StackSizes cross_sizes(const StackSizes& queries, std::int64_t keys) {
  StackSizes z = queries;
  z.keys = keys;
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.keys);
  z.projected = d(z.tokens) * d(z.queries) + d(z.samples * keys) * d(z.keys_values);
  z.causal = false;
  return z;
}

void Writer::append(Operators more) {
  out_.insert(out_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void Writer::gemm(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch,
                  int kernels, double useful) {
  out_.push_back(Gemm{name, {m, n, k, batch, d(z.element), z.element}, false, kernels, true, false, useful});
}

void Writer::weight_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from,
                             std::int64_t batch, int kernels, double useful) {
  accumulate({name, {rows, columns, from > 0 ? from : z.tokens, batch}, true, kernels, true, false, useful});
}

void Writer::product(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch) {
  out_.push_back(Gemm{name, {m, n, k, batch, d(z.element), z.element}});
}

void Writer::product_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from) {
  accumulate({name, {rows, columns, from}, true});
}

void Writer::accumulate(Gemm gradient) {
  const std::int64_t main = element_bytes(s.software.main_gradient_precision);
  const bool shared = z.grid.depth > 1;  // summed over the grids in depth first
  const bool fused = s.software.fused_gradient_accumulation && !shared;
  GemmShape& shape = gradient.shape;
  shape.input_bytes = d(z.element);
  shape.output_bytes = fused ? 2 * main : z.element;
  out_.push_back(gradient);
  if (fused) return;
  // What is accumulated while the sum is on its way takes as long later.
  if (!overlaps()) scatter_gradient(shape.m, shape.n, z.element, false);
  out_.push_back(Elementwise{"accumulate gradient",
                             d(shape.m) * d(shape.n) * d(shape.batch) * d(z.element + 2 * main) / z.grid.depth,
                             gradient.kernels, true});
  if (overlaps()) scatter_gradient(shape.m, shape.n, z.element, true);
}

void Writer::gather_weight(std::int64_t rows, std::int64_t columns) {
  if (z.grid.depth > 1)
    exchange("all-gather of the weight", Among::tensor_depth, Operation::all_gather,
             d(rows) * d(columns) * d(z.element));
}

void Writer::scatter_gradient(std::int64_t rows, std::int64_t columns, std::int64_t element, bool under_next) {
  if (z.grid.depth == 1) return;
  exchange("reduce-scatter of the weight's gradient", Among::tensor_depth, Operation::reduce_scatter,
           d(rows) * d(columns) * d(element), under_next);
  std::get<TensorCollective>(out_.back()).of_weights = true;
}

void Writer::sum_over_rows(std::string_view name, std::int64_t width, bool under_next) {
  if (z.grid.rows > 1)
    exchange(name, Among::tensor_column, Operation::all_reduce, d(z.tokens) * d(width) * d(z.element), under_next);
}

void Writer::sum_statistics_over_rows(std::string_view name, int of_a_token) {
  constexpr double kFloat = 4;
  if (z.grid.rows > 1) exchange(name, Among::tensor_column, Operation::all_reduce, d(z.tokens) * of_a_token * kFloat);
}

void Writer::sum_over_kv_copies() {
  if (z.kv_copies > 1)
    exchange("sum of gradients of keys and values over their copies", Among::kv_copies, Operation::all_reduce,
             (z.projected - d(z.tokens) * d(z.queries)) * d(z.element));
}

void Writer::touch(std::string_view name, double bytes_moved, int kernels) {
  out_.push_back(Elementwise{name, bytes_moved, kernels});
}

void Writer::collective(std::string_view name, Operation operation, bool under_next) {
  collective(name, operation, z.hidden_bytes, under_next);
}

void Writer::collective(std::string_view name, Operation operation, double size, bool under_next) {
  if (z.grid.columns > 1) exchange(name, Among::tensor, operation, size, under_next);
}

void Writer::in_parts() {
  if (s.software.tensor_overlap != TensorOverlap::all || !z.split_sequence) return;
  auto& traffic = std::get<TensorCollective>(out_.back());
  // A ring passes every rank's part on; Transformer Engine's num_splits otherwise.
  constexpr int kSplits = 4;
  traffic.parts = traffic.operation == Operation::all_gather ? static_cast<int>(z.tensor) : kSplits;
}

void Writer::exchange(std::string_view name, Among among, Operation operation, double size, bool under_next) {
  out_.push_back(TensorCollective{name, operation, bytes(size), under_next, among});
}

void Writer::fused_attention(std::string_view name, double flops, bool backward) {
  const double rows = d(z.batch_heads) * d(z.sequence) / d(z.context);
  out_.push_back(FusedAttention{name, {flops}, rows, backward, backward ? 2 : 1, z.causal});
}

bool has_dropout(const Scenario& s) { return layer_style(s.model).dropout && s.software.dropout; }
bool has_biases(const Scenario& s) { return layer_style(s.model).biases && s.software.biases; }

}  // namespace stepcast::schedules
