#include "scenario/model.h"

#include <algorithm>

namespace stepcast::schedules {

namespace {
double d(std::int64_t n) { return static_cast<double>(n); }
}  // namespace

bool is_decoder(Family family) { return family == Family::gpt || family == Family::llama || family == Family::moe; }

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

double routed_parameters(const Model& model) {
  const double matrices = is_gated(layer_style(model).activation) ? 3 : 2;
  return matrices * d(model.hidden) * d(model.experts.ffn) * d(model.experts.count);
}

double idle_parameters(const Model& model) {
  if (expert_layers(model) == 0) return 0;
  const double visited = d(model.experts.active) / d(model.experts.count);
  return d(expert_layers(model) + model.mtp_layers) * routed_parameters(model) * (1 - visited);
}

std::int64_t vocab_rows(const Model& model, std::uint32_t tensor, std::int64_t multiple) {
  constexpr std::int64_t kMegatron = 128;
  if (model.vocab % (tensor * multiple) == 0) return model.vocab / tensor;
  const std::int64_t rows = multiple > 1 ? multiple : kMegatron;
  return (model.vocab + rows * tensor - 1) / (rows * tensor) * rows;
}

bool tied_embeddings(const Model& model) {
  if (model.variations.tied_head) return *model.variations.tied_head;
  return model.family == Family::gpt || model.family == Family::bert || (model.family == Family::t5 && !model.gated);
}

}  // namespace stepcast::schedules
