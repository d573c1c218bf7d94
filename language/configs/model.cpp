#include "language/configs/model.h"

#include <algorithm>

#include "language/configs/network.h"
#include "language/core/convert.h"
#include "language/core/names_of.h"
#include "language/hugging_face/read_config.h"

namespace stepcast::language {
namespace {

using schedules::Family;
using M = ModelDraft;

constexpr std::int64_t kMostLayers = 100'000;
constexpr std::int64_t kWidest = 100'000'000;
constexpr std::int64_t kMostPixels = 100'000;  // along a side of an image
constexpr std::string_view kOfTransformers = "required of a transformer";

/// Keys of schedules::Variations.
Names variation_keys() {
  return {"tied_head",         "biases",
          "qkv_bias",          "qk_norm",
          "dropout",           "activation",
          "position_encoding", "parallel_block",
          "embedding_norm",    "embedding_width",
          "final_norm",        "mtp_layers",
          "post_norms",        "head_bias",
          "norm_parameters",   "window",
          "window_in_chunks",  "full_attention_every",
          "pattern",           "attention_gate"};
}

Names activations() {
  return names_of<schedules::Activation::clamped_swiglu>(
      {"gelu", "relu", "swiglu", "geglu", "squared-relu", "clamped-swiglu"});
}
Names bias_names() { return names_of<schedules::Biases::feed_forward>({"false", "true", "attention", "feed-forward"}); }
Names query_key_norm_names() { return names_of<schedules::QueryKeyNorm::all_heads>({"false", "true", "all-heads"}); }
// Relative positions, which come last, are of t5 alone, and nobody asks for them.
Names position_encodings() { return names_of<schedules::Positions::none>({"learned", "rotary", "alibi", "none"}); }
Names parallel_blocks() { return names_of<schedules::ParallelBlock::two_norms>({"none", "one-norm", "two-norms"}); }

Names families() {
  return names_of<schedules::Family::moe>({"gpt", "llama", "bert", "t5", "vit", "cnn", "mlp", "operators", "moe"});
}

/// Each of these keys must be given.
void require(const Value& value, const Names& keys) {
  for (const std::string_view key : keys) {
    if (value.node->find(key) != nullptr) continue;
    fail(value.node->place, join(value.path, key),
         "missing, expected " + expected(find_key(model_schema(), key)->type));
  }
}

/// None of these keys makes sense for the family.
void refuse(const Value& value, const Names& keys) {
  for (const Entry& entry : value.node->entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) continue;
    fail(entry.place, join(value.path, entry.key),
         "found on family '" + value.node->find("family")->scalar + "', which has none");
  }
}

void finish_experts(const Value& value, schedules::Model& model) {
  const auto missing = [&](const char* key, std::int64_t given) {
    if (given > 0) return;
    fail(locate(*value.node, key), join(value.path, key),
         "missing, expected " + expected(find_key(model_schema(), key)->type));
  };
  missing("experts.count", model.experts.count);
  missing("experts.active", model.experts.active);
  if (model.experts.ffn == 0) model.experts.ffn = model.ffn;
  if (value.node->find("latent") == nullptr) return;
  missing("latent.kv_rank", model.latent.kv_rank);
  missing("latent.head", model.latent.head);
  missing("latent.rotary", model.latent.rotary);
  missing("latent.value", model.latent.value);
}

/// Mixers of a pattern that have keys of their own: these come with it, and it with them.
void finish_mixer(const Value& value, const schedules::Model& model, schedules::Mixer mixer, const char* keys,
                  char letter, std::int64_t heads) {
  const bool has = layers_with(model, mixer) > 0;
  const std::string key = std::string(keys) + ".heads";
  if (has && heads == 0)
    fail(value.node->place, join(value.path, key),
         "missing, expected " + expected(find_key(model_schema(), key)->type));
  if (!has && value.node->find(keys) != nullptr)
    fail(locate(*value.node, keys), join(value.path, keys),
         std::string("found on a model without such layers, expected ") + letter + " in model.pattern with it");
}

void finish_pattern(const ModelDraft& draft, const Value& value, schedules::Model& model) {
  if (draft.pattern) {
    const auto refuse_pattern = [&](const std::string& what) {
      fail(locate(*value.node, "pattern"), join(value.path, "pattern"), what);
    };
    const auto pattern = schedules::layer_pattern(*draft.pattern);
    if (!pattern)
      refuse_pattern("found '" + *draft.pattern +
                     "', expected letters of layers, M, G, *, - or E, or two halves of one: (*E)");
    if (model.layers % static_cast<std::int64_t>(pattern->size()) != 0)
      refuse_pattern("found " + std::to_string(pattern->size()) + " layers, which do not fill model.layers " +
                     std::to_string(model.layers) + "; expected a divisor of it");
    model.variations.pattern = *pattern;
    using schedules::FeedForward;
    if ((layers_with(model, FeedForward::experts) > 0) != (model.family == Family::moe))
      refuse_pattern(model.family == Family::moe ? "found no E on family 'moe', expected one, or another family"
                                                 : "found E on family '" + value.node->find("family")->scalar +
                                                       "', expected family moe with it");
  }
  finish_mixer(value, model, schedules::Mixer::mamba, "mamba", 'M', model.mamba.heads);
  finish_mixer(value, model, schedules::Mixer::delta_net, "delta_net", 'G', model.delta_net.heads);
  if (model.delta_net.key_heads == 0) model.delta_net.key_heads = model.delta_net.heads;
}

void finish_network(const ModelDraft& draft, const Value& value, schedules::Model& model) {
  refuse(value, {"layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "head_width", "decoder_layers", "gated",
                 "positions", "patch", "classes", "experts", "latent", "mamba", "delta_net"});
  refuse(value, variation_keys());
  require(value, {"network"});
  if (model.family == Family::cnn && !draft.image_size)
    fail(value.node->place, join(value.path, "image.size"), "missing, expected " + expected(whole(1, kMostPixels)));
  if (model.family == Family::mlp) require(value, {"inputs"});
  if (draft.image_size && draft.inputs)
    fail(locate(*value.node, "inputs"), join(value.path, "inputs"), "found beside image, expected one of them");
  if (draft.image_size) model.network.input = {draft.image_channels, *draft.image_size, *draft.image_size};
  if (draft.inputs) model.network.input = {*draft.inputs, 1, 1};
  model.layers = units(model.network);
  if (const auto problem = check(model.network))
    fail(locate(*value.node, problem->key), join(value.path, problem->key), problem->text);
}

void finish_vit(const ModelDraft& draft, const Value& value, schedules::Model& model) {
  refuse(value, {"vocab"});
  require(value, {"patch", "classes"});
  if (!draft.image_size)
    fail(value.node->place, join(value.path, "image.size"), "missing, expected " + expected(whole(1, kMostPixels)));
  if (*draft.image_size % model.patch != 0)
    fail(locate(*value.node, "patch"), join(value.path, "patch"),
         "patch " + std::to_string(model.patch) + " does not divide image.size " + std::to_string(*draft.image_size));
  model.image = {draft.image_channels, *draft.image_size, *draft.image_size};
}

}  // namespace

const Table<ModelDraft>& model_table() {
  static const Table<ModelDraft> table(
      "Model", "models",
      {
          {{"name", text_type(), "", "what people call it"}, [](M& m, const Value& v) { m.model.name = v.text; }},
          {{"family", choice(families), kRequired,
            "gpt: LayerNorm, biases, GELU, learned positions, tied head; llama: RMSNorm, SwiGLU, rotary, untied head; "
            "moe: llama's, with experts; bert: as gpt, full attention, pooler, masked words and next sentence; t5: "
            "encoder and decoder; vit: "
            "patches of an image; cnn, mlp, operators: a network of layers"},
           [](M& m, const Value& v) { m.model.family = static_cast<Family>(v.choice); }},
          {{"layers", whole(1, kMostLayers), kOfTransformers, "transformer layers; t5: of the encoder"},
           [](M& m, const Value& v) { m.model.layers = v.whole; }},
          {{"hidden", whole(1, kWidest), kOfTransformers, "width between layers"},
           [](M& m, const Value& v) { m.model.hidden = v.whole; }},
          {{"heads", whole(1, kWidest), kOfTransformers, "attention heads"},
           [](M& m, const Value& v) { m.model.heads = v.whole; }},
          {{"kv_heads", whole(1, kWidest), "heads", "heads of keys and values; fewer than heads: grouped queries"},
           [](M& m, const Value& v) { m.kv_heads = v.whole; }},
          {{"head_width", whole(1, kWidest), "hidden / heads", "of queries, keys and values"},
           [](M& m, const Value& v) { m.model.head_width = v.whole; }},
          {{"ffn", whole(1, kWidest), "gpt, bert, vit: 4 x hidden", "inner width of the feed-forward block"},
           [](M& m, const Value& v) { m.ffn = v.whole; }},
          {{"vocab", whole(1, kWidest), kOfTransformers, "tokens of the vocabulary"},
           [](M& m, const Value& v) { m.model.vocab = v.whole; }},
          {{"experts.count", whole(1, kWidest), "required of moe", "routed experts of a layer"},
           [](M& m, const Value& v) { m.model.experts.count = v.whole; }},
          {{"experts.active", whole(1, kWidest), "required of moe", "routed experts that a token visits (top-k)"},
           [](M& m, const Value& v) { m.model.experts.active = v.whole; }},
          {{"experts.ffn", whole(1, kWidest), "ffn", "inner width of an expert"},
           [](M& m, const Value& v) { m.model.experts.ffn = v.whole; }},
          {{"experts.shared_ffn", whole(0, kWidest), "0", "inner width of the experts that all tokens visit, together"},
           [](M& m, const Value& v) { m.model.experts.shared_ffn = v.whole; }},
          {{"experts.dense_layers", whole(0, kMostLayers), "0", "the first n layers have no experts, but one of ffn"},
           [](M& m, const Value& v) { m.model.experts.dense_layers = v.whole; }},
          {{"experts.every", whole(1, kMostLayers), "1",
            "of the layers, each so-many-th has experts, the others one of ffn (Llama 4 Maverick: 2)"},
           [](M& m, const Value& v) { m.model.experts.every = v.whole; }},
          {{"experts.latent", whole(1, kWidest), "hidden",
            "width of what routed experts read and write: tokens are projected to it before they are sent (Nemotron 3 "
            "Super)"},
           [](M& m, const Value& v) { m.model.experts.latent = v.whole; }},
          {{"latent.kv_rank", whole(1, kWidest), "ordinary attention",
            "moe: latent attention (MLA), width of low-rank keys and values"},
           [](M& m, const Value& v) { m.model.latent.kv_rank = v.whole; }},
          {{"latent.query_rank", whole(0, kWidest), "0", "width of low-rank queries; 0: projected directly"},
           [](M& m, const Value& v) { m.model.latent.query_rank = v.whole; }},
          {{"latent.head", whole(1, kWidest), "required with latent", "width of a head's queries and keys"},
           [](M& m, const Value& v) { m.model.latent.head = v.whole; }},
          {{"latent.rotary", whole(1, kWidest), "required with latent", "beside it, of the part with positions"},
           [](M& m, const Value& v) { m.model.latent.rotary = v.whole; }},
          {{"latent.value", whole(1, kWidest), "required with latent", "of a head's values"},
           [](M& m, const Value& v) { m.model.latent.value = v.whole; }},
          {{"tied_head", flag(), "gpt: true; llama, moe: false", "the head uses the embedding's matrix"},
           [](M& m, const Value& v) { m.model.variations.tied_head = v.flag; }},
          {{"biases", choice(bias_names), "gpt: true; llama, moe: false",
            "of every linear layer in a layer, of attention's or of the feed-forward block's alone"},
           [](M& m, const Value& v) { m.model.variations.biases = static_cast<schedules::Biases>(v.choice); }},
          {{"qkv_bias", flag(), "false", "biases of queries, keys and values alone (Qwen 2)"},
           [](M& m, const Value& v) { m.model.variations.qkv_bias = v.flag; }},
          {{"qk_norm", choice(query_key_norm_names), "false",
            "an RMSNorm on each head's queries and keys (Qwen 3), or on those of all heads together (OLMo 2)"},
           [](M& m, const Value& v) { m.model.variations.qk_norm = static_cast<schedules::QueryKeyNorm>(v.choice); }},
          {{"dropout", flag(), "gpt: true; llama, moe: false", "as the model is trained"},
           [](M& m, const Value& v) { m.model.variations.dropout = v.flag; }},
          {{"activation", choice(activations), "gpt: gelu; llama, moe: swiglu", "of the feed-forward block"},
           [](M& m, const Value& v) { m.model.variations.activation = static_cast<schedules::Activation>(v.choice); }},
          {{"position_encoding", choice(position_encodings), "gpt: learned; llama, moe: rotary",
            "learned: added to the embedding; rotary: turns queries and keys; alibi: a fixed bias on the scores; none: "
            "tokens tell their places by what is before them"},
           [](M& m, const Value& v) { m.model.variations.positions = static_cast<schedules::Positions>(v.choice); }},
          {{"parallel_block", choice(parallel_blocks), "none",
            "feed-forward block beside attention, on the same input: of one norm (Falcon 7B) or two (Falcon 40B)"},
           [](M& m, const Value& v) {
             m.model.variations.parallel_block = static_cast<schedules::ParallelBlock>(v.choice);
           }},
          {{"attention_gate", flag(), "false",
            "attention's result times the sigmoid of a gate from the layer's input (Qwen 3 Next)"},
           [](M& m, const Value& v) { m.model.variations.attention_gate = v.flag; }},
          {{"pattern", text_type(), "attention in every layer, and behind it what experts say",
            "what layers are made of, a letter each, in quotes: M Mamba-2, G gated DeltaNet, * attention, - "
            "feed-forward "
            "block, E experts; (*E) is a layer of both; begins anew until all layers have theirs"},
           [](M& m, const Value& v) { m.pattern = v.text; }},
          {{"mamba.heads", whole(1, kWidest), "required with M in pattern", "heads of a state-space layer (Mamba-2)"},
           [](M& m, const Value& v) { m.model.mamba.heads = v.whole; }},
          {{"mamba.head", whole(1, kWidest), "64", "width of one"},
           [](M& m, const Value& v) { m.model.mamba.head = v.whole; }},
          {{"mamba.state", whole(1, kWidest), "128", "numbers that the state has for each of a head's"},
           [](M& m, const Value& v) { m.model.mamba.state = v.whole; }},
          {{"mamba.groups", whole(1, kWidest), "1", "of heads that share what is added to their states and read by"},
           [](M& m, const Value& v) { m.model.mamba.groups = v.whole; }},
          {{"mamba.convolution", whole(1, kWidest), "4", "tokens that the convolution before the scan sees"},
           [](M& m, const Value& v) { m.model.mamba.convolution = v.whole; }},
          {{"mamba.chunk", whole(1, kWidest), "256", "tokens that the scan multiplies at once"},
           [](M& m, const Value& v) { m.model.mamba.chunk = v.whole; }},
          {{"delta_net.heads", whole(1, kWidest), "required with G in pattern",
            "heads of values of a layer of gated DeltaNet, each with a state"},
           [](M& m, const Value& v) { m.model.delta_net.heads = v.whole; }},
          {{"delta_net.key_heads", whole(1, kWidest), "heads", "heads of queries and of keys"},
           [](M& m, const Value& v) { m.model.delta_net.key_heads = v.whole; }},
          {{"delta_net.key", whole(1, kWidest), "128", "width of a head's queries and keys"},
           [](M& m, const Value& v) { m.model.delta_net.key = v.whole; }},
          {{"delta_net.value", whole(1, kWidest), "128", "width of a head's values"},
           [](M& m, const Value& v) { m.model.delta_net.value = v.whole; }},
          {{"delta_net.convolution", whole(1, kWidest), "4", "tokens that the convolution before the scan sees"},
           [](M& m, const Value& v) { m.model.delta_net.convolution = v.whole; }},
          {{"delta_net.chunk", whole(1, kWidest), "64", "tokens that the scan multiplies at once"},
           [](M& m, const Value& v) { m.model.delta_net.chunk = v.whole; }},
          {{"embedding_norm", flag(), "false", "a norm behind the embedding (BLOOM)"},
           [](M& m, const Value& v) { m.model.variations.embedding_norm = v.flag; }},
          {{"embedding_width", whole(1, kWidest), "hidden",
            "of the vocabulary's matrix, projected to and from hidden (OPT 350M)"},
           [](M& m, const Value& v) { m.model.variations.embedding_width = v.whole; }},
          {{"mtp_layers", whole(0, kMostLayers), "0",
            "layers behind the last one, each of which predicts the token one further on (DeepSeek-V3: 1)"},
           [](M& m, const Value& v) { m.model.mtp_layers = v.whole; }},
          {{"post_norms", flag(), "false", "a second norm in each half of a layer, before its residual (Gemma 2)"},
           [](M& m, const Value& v) { m.model.variations.post_norms = v.flag; }},
          {{"norm_parameters", whole(0, 2), "gpt: 2; llama, moe: 1",
            "of a norm, for each number that it norms: scale and offset, scale alone (Cohere), none (OLMo)"},
           [](M& m, const Value& v) { m.model.variations.norm_parameters = v.whole; }},
          {{"head_bias", flag(), "false", "of the logits (Phi)"},
           [](M& m, const Value& v) { m.model.variations.head_bias = v.flag; }},
          {{"window", whole(1, kWidest), "all before it",
            "tokens that a query sees, its own included: a sliding window (Mistral)"},
           [](M& m, const Value& v) { m.model.variations.window = v.whole; }},
          {{"window_in_chunks", flag(), "false",
            "with window: samples are cut into chunks of so many tokens, and a query sees its own chunk (Llama 4)"},
           [](M& m, const Value& v) { m.model.variations.window_in_chunks = v.flag; }},
          {{"full_attention_every", whole(1, kMostLayers), "no layer",
            "with window: each so-many-th layer sees all tokens (Gemma 3: 6)"},
           [](M& m, const Value& v) { m.model.variations.full_attention_every = v.whole; }},
          {{"precision", choice(training_precision_names), "bf16",
            "of training, where training.precision does not say it: what the weights were trained in"},
           [](M& m, const Value& v) { m.model.precision = static_cast<schedules::Precision>(v.choice); }},
          {{"final_norm", flag(), "true", "a norm before the logits"},
           [](M& m, const Value& v) { m.model.variations.final_norm = v.flag; }},
          {{"positions", whole(1, kWidest), "the tokens of a sample", "gpt, bert: learned positions"},
           [](M& m, const Value& v) { m.model.positions = v.whole; }},
          {{"decoder_layers", whole(1, kMostLayers), "layers", "t5: of the decoder"},
           [](M& m, const Value& v) { m.decoder_layers = v.whole; }},
          {{"gated", flag(), "false", "t5: GELU-gated feed-forward and an untied head (T5 1.1), else ReLU and tied"},
           [](M& m, const Value& v) { m.model.gated = v.flag; }},
          {{"segments", whole(0, kWidest), "2", "bert: kinds of sentences, each with a vector of its own"},
           [](M& m, const Value& v) { m.model.segments = v.whole; }},
          {{"next_sentence", flag(), "true", "bert: a pooler, and a head that tells whether two sentences follow"},
           [](M& m, const Value& v) { m.model.next_sentence = v.flag; }},
          {{"patch", whole(1, kMostPixels), "required of vit", "pixels along a side of a patch"},
           [](M& m, const Value& v) { m.model.patch = v.whole; }},
          {{"classes", whole(1, kWidest), "required of vit", "of the head"},
           [](M& m, const Value& v) { m.model.classes = v.whole; }},
          {{"image.size", whole(1, kMostPixels), "required of cnn and vit", "pixels along a side of the input"},
           [](M& m, const Value& v) { m.image_size = v.whole; }},
          {{"image.channels", whole(1, kMostPixels), "3", "of the input"},
           [](M& m, const Value& v) { m.image_channels = v.whole; }},
          {{"inputs", whole(1, kWidest), "required of mlp", "features of the input"},
           [](M& m, const Value& v) { m.inputs = v.whole; }},
          {{"network", list_of_mappings("[{op: linear, out: 10}]", network_schema),
            "required of cnn, mlp and operators", "layers: [{op, out, ...}, ...], docs/model.md"},
           [](M& m, const Value& v) { m.model.network.layers = read_network(v); }},
          {{"source", text_type(), "", "where the numbers are from"},
           [](M& m, const Value& v) { m.model.source = v.text; }},
      },
      {{"image", "inputs"}});
  return table;
}

const Schema& model_schema() {
  static const Schema schema = [] {
    Schema made = model_table().schema;
    made.json = kHuggingFaceFiles;
    return made;
  }();
  return schema;
}

schedules::Model finish(const ModelDraft& draft, const Value& value) {
  schedules::Model model = draft.model;
  if (model.name.empty()) model.name = value.text;
  if (schedules::is_network(model.family)) {
    finish_network(draft, value, model);
    return model;
  }
  require(value, {"layers", "hidden"});
  refuse(value, {"inputs", "network"});
  if (model.family != Family::t5) refuse(value, {"decoder_layers", "gated"});
  if (model.family == Family::t5) model.decoder_layers = draft.decoder_layers.value_or(model.layers);
  model.layers += model.decoder_layers;
  if (model.family == Family::vit)
    finish_vit(draft, value, model);
  else
    require(value, {"vocab"});
  if (model.family != Family::vit) refuse(value, {"image", "patch", "classes"});
  const bool decoder = model.family == Family::gpt || model.family == Family::llama || model.family == Family::moe;
  if (!decoder) {
    refuse(value, variation_keys());
    refuse(value, {"mamba", "delta_net"});
  }
  if (!decoder && model.family != Family::bert) refuse(value, {"positions"});
  if (model.family != Family::bert) refuse(value, {"segments", "next_sentence"});
  if (value.node->find("positions") != nullptr &&
      schedules::layer_style(model).positions != schedules::Positions::learned)
    fail(locate(*value.node, "positions"), join(value.path, "positions"),
         "found on a model that learns no positions, expected position_encoding learned with it");
  if (model.family != Family::moe) refuse(value, {"experts", "latent"});
  for (const char* const key : {"full_attention_every", "window_in_chunks"})
    if (model.variations.window == 0 && value.node->find(key) != nullptr)
      fail(locate(*value.node, key), join(value.path, key),
           "found on a model all of whose layers see all tokens, expected window with it");
  finish_pattern(draft, value, model);
  if (layers_with(model, schedules::Mixer::attention) > 0 || model.mtp_layers > 0) require(value, {"heads"});
  model.heads = std::max<std::int64_t>(model.heads, 1);
  model.kv_heads = draft.kv_heads.value_or(model.heads);
  const bool blocks = layers_with(model, schedules::FeedForward::dense) > 0;
  if (blocks && !draft.ffn && (model.family == Family::llama || model.family == Family::t5)) {
    fail(value.node->place, join(value.path, "ffn"),
         "missing, expected a whole number of at least 1 (only gpt, bert and vit have a default)");
  }
  model.ffn = draft.ffn.value_or(4 * model.hidden);
  if (model.family == Family::moe) finish_experts(value, model);
  return model;
}

}  // namespace stepcast::language
