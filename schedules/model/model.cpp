#include "schedules/model/model.h"

#include <algorithm>

namespace stepcast::schedules {

namespace {
double d(std::int64_t n) { return static_cast<double>(n); }
}  // namespace

bool is_network(Family family) { return family == Family::cnn || family == Family::mlp || family == Family::operators; }

bool has_tokens(Family family) { return !is_network(family) && family != Family::vit; }

namespace {

LayerStyle family_style(const Model& model) {
  switch (model.family) {
    case Family::llama:
    case Family::moe:
      return {.rms_norm = true, .positions = Positions::rotary, .causal = true, .activation = Activation::swiglu};
    case Family::bert:
      return {.biases = true, .dropout = true};
    case Family::t5:
      return {.rms_norm = true,
              .dropout = true,
              .positions = Positions::relative,
              .causal = true,
              .activation = model.gated ? Activation::geglu : Activation::relu};
    case Family::vit:
      return {.biases = true};
    case Family::gpt:
    case Family::cnn:
    case Family::mlp:
    case Family::operators:
      break;
  }
  return {.biases = true, .dropout = true, .causal = true};
}

}  // namespace

LayerStyle layer_style(const Model& model) {
  LayerStyle style = family_style(model);
  const Variations& own = model.variations;
  style.biases = own.biases.value_or(style.biases);
  style.dropout = own.dropout.value_or(style.dropout);
  style.activation = own.activation.value_or(style.activation);
  style.positions = own.positions.value_or(style.positions);
  return style;
}

std::int64_t head_width(const Model& model) {
  return model.head_width > 0 ? model.head_width : model.hidden / model.heads;
}

std::int64_t kv_heads(const Model& model) { return model.latent.kv_rank > 0 ? model.heads : model.kv_heads; }

std::int64_t kv_copies(const Model& model, std::int64_t head_ranks) {
  return std::max<std::int64_t>(head_ranks / kv_heads(model), 1);
}

std::int64_t encoder_layers(const Model& model) { return model.layers - model.decoder_layers; }

std::int64_t patches(const Model& model) {
  return (model.image.height / model.patch) * (model.image.width / model.patch);
}

std::int64_t expert_layers(const Model& model) {
  return model.experts.count == 0 ? 0 : std::max<std::int64_t>(model.layers - model.experts.dense_layers, 0);
}

namespace {

void add_attention(const Model& model, std::int64_t head_ranks, LayerParameters& n) {
  const double h = d(model.hidden), a = d(model.heads);
  if (const LatentAttention& mla = model.latent; mla.kv_rank > 0) {
    const double rank = d(mla.query_rank), kv = d(mla.kv_rank), rotary = d(mla.rotary);
    const double queries = a * (d(mla.head) + rotary);
    n.whole += rank > 0 ? h * rank + rank : 0;  // down, and its norm
    n.split += (rank > 0 ? rank : h) * queries;
    n.whole += h * (kv + rotary) + kv;
    n.split += kv * a * d(mla.head + mla.value) + a * d(mla.value) * h;
    return;
  }
  const double q = a * d(head_width(model));
  const double kv = d(model.kv_heads * kv_copies(model, head_ranks) * head_width(model));
  n.split += h * (q + 2 * kv) + q * h;
  const bool biases = layer_style(model).biases;
  if (biases || model.variations.qkv_bias) {
    n.split += q + 2 * kv;
    n.biases += q + 2 * kv;
  }
  if (model.variations.qk_norm) n.whole += 2 * d(head_width(model));
  if (biases) n.whole += h;
}

}  // namespace

LayerParameters layer_parameters(const Model& model, FeedForward kind, std::int64_t head_ranks) {
  const LayerStyle style = layer_style(model);
  const double h = d(model.hidden);
  LayerParameters n;
  const double norms = model.variations.parallel_block == ParallelBlock::one_norm ? 1 : 2;
  n.whole += norms * (style.rms_norm ? 1 : 2) * h;
  add_attention(model, head_ranks, n);
  const double matrices = is_gated(style.activation) ? 3 : 2;
  if (kind == FeedForward::experts) {
    const Experts& experts = model.experts;
    n.whole += h * d(experts.count);
    n.split += matrices * h * d(experts.shared_ffn);
    n.experts += matrices * h * d(experts.ffn) * d(experts.count);
    return n;
  }
  n.split += matrices * h * d(model.ffn);
  if (!style.biases) return n;
  n.split += d(model.ffn);
  n.biases += d(model.ffn);
  n.whole += h;
  return n;
}

double idle_parameters(const Model& model) {
  if (expert_layers(model) == 0) return 0;
  const double visited = d(model.experts.active) / d(model.experts.count);
  return d(expert_layers(model)) * layer_parameters(model, FeedForward::experts).experts * (1 - visited);
}

std::int64_t embedding_width(const Model& model) {
  return model.variations.embedding_width > 0 ? model.variations.embedding_width : model.hidden;
}

double embedding_parameters(const Model& model, std::int64_t sequence) {
  const LayerStyle style = layer_style(model);
  const double h = d(model.hidden), width = d(embedding_width(model));
  double all = d(model.vocab) * width;
  if (model.variations.embedding_width > 0) all += width * h;
  if (model.variations.embedding_norm) all += (style.rms_norm ? 1 : 2) * h;
  if (style.positions == Positions::learned) all += d(model.positions > 0 ? model.positions : sequence) * h;
  return all;
}

std::int64_t vocab_rows(const Model& model, std::uint32_t tensor) {
  constexpr std::int64_t kPadding = 128;
  if (model.vocab % tensor == 0) return model.vocab / tensor;
  return (model.vocab + kPadding * tensor - 1) / (kPadding * tensor) * kPadding;
}

bool tied_embeddings(const Model& model) {
  if (model.variations.tied_head) return *model.variations.tied_head;
  return model.family == Family::gpt || model.family == Family::bert || (model.family == Family::t5 && !model.gated);
}

}  // namespace stepcast::schedules
