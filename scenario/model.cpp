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
      return {.rms_norm = true,
              .positions = Positions::rotary,
              .causal = true,
              .activation = Activation::swiglu,
              .norm_parameters = 1};
    case Family::bert:
      return {.attention_biases = true, .feed_forward_biases = true, .dropout = true};
    case Family::t5:
      return {.rms_norm = true,
              .dropout = true,
              .positions = Positions::relative,
              .causal = true,
              .activation = model.gated ? Activation::geglu : Activation::relu,
              .norm_parameters = 1};
    case Family::vit:
      return {.attention_biases = true, .feed_forward_biases = true};
    case Family::gpt:
    case Family::cnn:
    case Family::mlp:
    case Family::operators:
      break;
  }
  return {.attention_biases = true, .feed_forward_biases = true, .dropout = true, .causal = true};
}

}  // namespace

LayerStyle layer_style(const Model& model) {
  LayerStyle style = family_style(model);
  const Variations& own = model.variations;
  if (own.biases) {
    style.attention_biases = *own.biases == Biases::all || *own.biases == Biases::attention;
    style.feed_forward_biases = *own.biases == Biases::all || *own.biases == Biases::feed_forward;
  }
  style.norm_parameters = own.norm_parameters.value_or(style.norm_parameters);
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

LayerHalves halves(const Model& model, std::int64_t layer) {
  const std::vector<LayerHalves>& pattern = model.variations.pattern;
  if (!pattern.empty()) return pattern[static_cast<std::size_t>(layer) % pattern.size()];
  const Experts& experts = model.experts;
  const bool routes = experts.count > 0 && layer >= experts.dense_layers && (layer + 1) % experts.every == 0;
  return {Mixer::attention, routes ? FeedForward::experts : FeedForward::dense};
}

LayerHalves mtp_halves(const Model& model) {
  if (model.variations.pattern.empty()) return halves(model, model.layers - 1);
  return {Mixer::attention, layers_with(model, FeedForward::experts) > 0 ? FeedForward::experts : FeedForward::dense};
}

namespace {

/// Layers of a pattern, which fills the model a whole number of times.
template <class Half>
std::int64_t in_pattern(const Model& model, Half LayerHalves::*half, Half sought) {
  const std::vector<LayerHalves>& pattern = model.variations.pattern;
  return std::ranges::count(pattern, sought, half) * model.layers / static_cast<std::int64_t>(pattern.size());
}

}  // namespace

std::int64_t layers_with(const Model& model, Mixer mixer) {
  if (!model.variations.pattern.empty()) return in_pattern(model, &LayerHalves::mixer, mixer);
  return mixer == Mixer::attention ? model.layers : 0;
}

std::int64_t layers_with(const Model& model, FeedForward feed_forward) {
  if (!model.variations.pattern.empty()) return in_pattern(model, &LayerHalves::feed_forward, feed_forward);
  const Experts& experts = model.experts;
  const std::int64_t routed =
      experts.count == 0
          ? 0
          : std::max<std::int64_t>(model.layers / experts.every - experts.dense_layers / experts.every, 0);
  if (feed_forward == FeedForward::experts) return routed;
  return feed_forward == FeedForward::dense ? model.layers - routed : 0;
}

std::int64_t attention_window(const Model& model, std::int64_t layer, std::int64_t sequence) {
  const std::int64_t window = model.variations.window, every = model.variations.full_attention_every;
  if (window == 0 || (every > 0 && (layer + 1) % every == 0)) return sequence;
  return std::min(window, sequence);
}

std::int64_t expert_width(const Model& model) { return model.experts.latent > 0 ? model.experts.latent : model.hidden; }

double routed_parameters(const Model& model) {
  const double matrices = is_gated(layer_style(model).activation) ? 3 : 2;
  const double of_one = matrices * d(expert_width(model)) * d(model.experts.ffn);
  const double biases = (matrices - 1) * d(model.experts.ffn) + d(expert_width(model));
  return d(model.experts.count) * (of_one + (layer_style(model).feed_forward_biases ? biases : 0));
}

double idle_parameters(const Model& model) {
  const std::int64_t layers = layers_with(model, FeedForward::experts);
  if (layers == 0) return 0;
  const double visited = d(model.experts.active) / d(model.experts.count);
  return d(layers + model.mtp_layers) * routed_parameters(model) * (1 - visited);
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
