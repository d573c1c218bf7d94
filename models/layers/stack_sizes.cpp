#include "models/layers/stack_sizes.h"

#include "models/layers/as_double.h"
#include "models/layers/autocast.h"

namespace stepcast::schedules {
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
  z.vocab = m.vocab > 0 ? vocab_rows(m, z.grid.columns, s.software.vocabulary_multiple) : 0;
  z.element = element_bytes(s.training.precision);
  z.residual_element = residual_element(s);
  z.split_sequence = s.parallelism.sequence && t > 1;
  z.residual = d(z.tokens) * d(z.width) / (z.split_sequence ? d(t) : 1.0);
  z.inner = d(z.tokens) * d(z.ffn);
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.keys);
  z.projected = d(z.tokens) * d(z.query_key_value());
  z.hidden_bytes = d(z.tokens) * d(z.width) * d(z.element);
  z.causal = causal;
  z.window = sequence;
  z.chunks = m.variations.window_in_chunks;
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

bool has_dropout(const Scenario& s) { return layer_style(s.model).dropout && s.software.dropout; }

}  // namespace stepcast::schedules
