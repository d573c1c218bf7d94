#include "schedules/model/model.h"

namespace stepcast::schedules {

namespace {
double d(std::int64_t n) { return static_cast<double>(n); }
}  // namespace

bool is_network(Family family) { return family == Family::cnn || family == Family::mlp || family == Family::operators; }

bool has_tokens(Family family) { return !is_network(family) && family != Family::vit; }

LayerStyle layer_style(const Model& model) {
  switch (model.family) {
    case Family::llama:
      return {.rms_norm = true, .rotary = true, .causal = true, .activation = Activation::swiglu};
    case Family::bert:
      return {.biases = true, .dropout = true};
    case Family::t5:
      return {.rms_norm = true,
              .dropout = true,
              .relative_positions = true,
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

std::int64_t head_width(const Model& model) {
  return model.head_width > 0 ? model.head_width : model.hidden / model.heads;
}

std::int64_t encoder_layers(const Model& model) { return model.layers - model.decoder_layers; }

std::int64_t patches(const Model& model) {
  return (model.image.height / model.patch) * (model.image.width / model.patch);
}

double layer_parameters_of_every_rank(const Model& model) {
  const LayerStyle style = layer_style(model);
  const double h = d(model.hidden);
  return 2 * (style.rms_norm ? 1 : 2) * h + (style.biases ? 2 * h : 0);
}

double layer_parameters(const Model& model) {
  const LayerStyle style = layer_style(model);
  const double h = d(model.hidden), f = d(model.ffn);
  const double q = d(model.heads * head_width(model)), kv = d(model.kv_heads * head_width(model));
  const double split_biases = style.biases ? q + 2 * kv + f : 0;
  return h * (q + 2 * kv) + q * h + (is_gated(style.activation) ? 3 : 2) * h * f + split_biases +
         layer_parameters_of_every_rank(model);
}

double embedding_parameters(const Model& model, std::int64_t sequence) {
  const double words = d(model.vocab) * d(model.hidden);
  if (layer_style(model).rotary || layer_style(model).relative_positions) return words;
  return words + d(model.positions > 0 ? model.positions : sequence) * d(model.hidden);
}

std::int64_t vocab_rows(const Model& model, std::uint32_t tensor) {
  constexpr std::int64_t kPadding = 128;
  if (model.vocab % tensor == 0) return model.vocab / tensor;
  return (model.vocab + kPadding * tensor - 1) / (kPadding * tensor) * kPadding;
}

bool tied_embeddings(const Model& model) {
  return model.family == Family::gpt || model.family == Family::bert || (model.family == Family::t5 && !model.gated);
}

}  // namespace stepcast::schedules
