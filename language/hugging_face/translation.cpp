#include "language/hugging_face/translation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "language/core/nearest.h"
#include "language/core/type.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

// Fields of configurations of any type that change nothing of what a step computes, moves or stores: words, numbers of
// tokens, generation, initial values, what a norm adds to a variance, the angles of rotary positions, how long a
// sequence may be where positions have no parameters, how a checkpoint is stored and loaded.
constexpr std::string_view kWithoutEffect[] = {"_attn_implementation",
                                               "_attn_implementation_autoset",
                                               "_commit_hash",
                                               "_flash_attn_2_enabled",
                                               "_name_or_path",
                                               "architectures",
                                               "attn_implementation",
                                               "auto_map",
                                               "aux_loss_alpha",
                                               "bad_words_ids",
                                               "begin_suppress_tokens",
                                               "bos_token_id",
                                               "cache_implementation",
                                               "chunk_size_feed_forward",
                                               "cls_token_id",
                                               "decoder_start_token_id",
                                               "diversity_penalty",
                                               "do_sample",
                                               "dtype",
                                               "early_stopping",
                                               "encoder_no_repeat_ngram_size",
                                               "eos_token_id",
                                               "ep_size",
                                               "exponential_decay_length_penalty",
                                               "finetuning_task",
                                               "forced_bos_token_id",
                                               "forced_eos_token_id",
                                               "gradient_checkpointing",
                                               "id2label",
                                               "initializer_factor",
                                               "initializer_range",
                                               "is_decoder",
                                               "is_encoder_decoder",
                                               "keys_to_ignore_at_inference",
                                               "label2id",
                                               "layer_norm_eps",
                                               "layer_norm_epsilon",
                                               "layernorm_epsilon",
                                               "length_penalty",
                                               "mask_token_id",
                                               "max_length",
                                               "max_position_embeddings",
                                               "min_length",
                                               "model_max_length",
                                               "model_type",
                                               "mtp_loss_weight",
                                               "n_group",
                                               "no_repeat_ngram_size",
                                               "norm_eps",
                                               "norm_topk_prob",
                                               "num_beam_groups",
                                               "num_beams",
                                               "num_labels",
                                               "num_return_sequences",
                                               "original_max_position_embeddings",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_past",
                                               "output_router_logits",
                                               "output_scores",
                                               "pad_token_id",
                                               "partial_rotary_factor",
                                               "prefix",
                                               "pretraining_tp",
                                               "problem_type",
                                               "remove_invalid_values",
                                               "repetition_penalty",
                                               "return_dict",
                                               "return_dict_in_generate",
                                               "rms_norm_eps",
                                               "rope_interleave",
                                               "rope_parameters",
                                               "rope_scaling",
                                               "rope_theta",
                                               "rotary_dim",
                                               "routed_scaling_factor",
                                               "router_aux_loss_coef",
                                               "router_jitter_noise",
                                               "router_z_loss_coef",
                                               "scoring_func",
                                               "sep_token_id",
                                               "seq_aux",
                                               "suppress_tokens",
                                               "task_specific_params",
                                               "temperature",
                                               "tf_legacy_loss",
                                               "tokenizer_class",
                                               "top_k",
                                               "top_p",
                                               "topk_group",
                                               "topk_method",
                                               "torch_dtype",
                                               "torchscript",
                                               "transformers_version",
                                               "typical_p",
                                               "unk_token_id",
                                               "unsloth_fixed",
                                               "unsloth_version",
                                               "use_bfloat16",
                                               "use_cache"};

// Others that change much where they say anything else.
constexpr std::pair<std::string_view, std::string_view> kOnlyAs[] = {{"add_cross_attention", "false"},
                                                                     {"tie_encoder_decoder", "false"}};

bool is_listed(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// null, {} and [].
bool is_empty(const Node& node) {
  return node.kind == Node::Kind::nothing ||
         (node.kind != Node::Kind::scalar && node.items.empty() && node.entries.empty());
}

/// "2", "2.0" and "2e0".
std::optional<double> as_number(const Node& node) {
  double value = 0;
  const char *const begin = node.scalar.data(), *const end = begin + node.scalar.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (node.kind != Node::Kind::scalar || error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// What an answer says of the parts for other kinds of input: their parameters, memory and time are not in it.
std::string of_text_alone(const TextModel& text) {
  std::string all = " Of the text model alone";
  if (!text.path.empty()) all += ", " + text.path;
  all += text.left_out.empty() ? ": whatever else reads other inputs is not in it."
                               : ", without the parameters, memory and time of " + listed(text.left_out) +
                                     " and of what joins them to it.";
  if (!text.joints.empty()) all += " Left out with them: " + listed(text.joints) + '.';
  return all;
}

void say_at(Node& mapping, std::string_view key, Node value) {
  const std::size_t dot = key.find('.');
  const std::string word(key.substr(0, dot));
  Node* below = mapping.find(word);
  if (dot == key.npos) {
    if (below != nullptr)
      *below = std::move(value);
    else
      mapping.entries.push_back({word, value.place, value});
    return;
  }
  if (below == nullptr)
    below = &mapping.entries.emplace_back(Entry{word, value.place, make_mapping(value.place)}).value;
  say_at(*below, key.substr(dot + 1), std::move(value));
}

}  // namespace

std::span<const std::string_view> fields_without_effect() { return kWithoutEffect; }

Translation::Translation(const ModelType& type, const TextModel& text)
    : type_(type), text_(text), config_(text.fields), model_(make_mapping(text.fields.place)) {
  for (const ConfigField& field : type.fields) {
    fallbacks_.push_back(make_scalar(std::string(field.fallback), place(field.name)));
    if (field.fallback == kNull) fallbacks_.back().kind = Node::Kind::nothing;
  }
}

Place Translation::place(std::string_view field) const {
  const auto entry = std::ranges::find(config_.entries, field, &Entry::key);
  if (entry == config_.entries.end()) return config_.place;
  return entry->value.kind == Node::Kind::nothing ? entry->place : entry->value.place;
}

void Translation::refuse(std::string_view field, const std::string& what) const {
  refuse_at(place(field), field, what);
}

void Translation::refuse_at(const Place& place, std::string_view field, const std::string& what) const {
  fail(place, join(text_.path, field), what);
}

bool Translation::knows(std::string_view field) const {
  return std::ranges::find(type_.fields, field, &ConfigField::name) != type_.fields.end();
}

bool Translation::states(std::string_view field) const { return config_.find(field) != nullptr; }

const Node* Translation::find(std::string_view field) {
  asked_.emplace(field);
  if (const Node* given = config_.find(field); given != nullptr)
    return given->kind == Node::Kind::nothing ? nullptr : given;
  const auto known = std::ranges::find(type_.fields, field, &ConfigField::name);
  if (known == type_.fields.end()) return nullptr;
  if (known->fallback == kMustBeGiven)
    refuse(field, "missing, which " + std::string(type_.name) + " has no default of");
  const Node& fallback = fallbacks_[static_cast<std::size_t>(known - type_.fields.begin())];
  return fallback.kind == Node::Kind::nothing ? nullptr : &fallback;
}

std::string_view Translation::named(std::initializer_list<std::string_view> names) {
  std::string_view first;
  for (const std::string_view name : names) {
    const Node* const given = config_.find(name);
    if (given == nullptr || given->kind == Node::Kind::nothing) continue;
    asked_.emplace(name);
    if (first.empty())
      first = name;
    else if (given->scalar != config_.find(first)->scalar)
      refuse(name, "found " + found(*given) + " beside " + std::string(first) + " " + found(*config_.find(first)) +
                       ", which is the same field, expected one of them");
  }
  return first.empty() ? *names.begin() : first;
}

const Node& Translation::needed(std::string_view field) {
  const Node* const node = find(field);
  if (node == nullptr) refuse(field, "found null, expected a value");
  return *node;
}

std::int64_t Translation::whole(std::string_view field, std::int64_t least) {
  constexpr double kMost = 1e12;
  const Node& node = needed(field);
  const std::optional<double> value = as_number(node);
  if (!value || *value < static_cast<double>(least) || *value > kMost ||
      *value != static_cast<double>(static_cast<std::int64_t>(*value)))
    refuse(field, "found " + found(node) + ", expected a whole number of at least " + std::to_string(least));
  return static_cast<std::int64_t>(*value);
}

double Translation::number(std::string_view field) {
  const Node& node = needed(field);
  const std::optional<double> value = as_number(node);
  if (!value) refuse(field, "found " + found(node) + ", expected a number");
  return *value;
}

bool Translation::flag(std::string_view field) { return one_of(field, {"false", "true"}) == 1; }

void Translation::leave(std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) find(field);
}

std::string Translation::text(std::string_view field) {
  const Node& node = needed(field);
  if (node.kind != Node::Kind::scalar) refuse(field, "found " + found(node) + ", expected a word");
  return node.scalar;
}

std::span<const Node> Translation::items(std::string_view field) {
  const Node* const node = find(field);
  if (node == nullptr) return {};
  if (node->kind != Node::Kind::list) refuse(field, "found " + found(*node) + ", expected a list");
  return node->items;
}

std::size_t Translation::one_of(std::string_view field, std::initializer_list<std::string_view> allowed) {
  const std::string word = text(field);
  const auto known = std::ranges::find(allowed, word);
  if (known == allowed.end())
    refuse(field, "found " + in_quotes(word) + ", expected " +
                      language::one_of(word, std::vector<std::string_view>(allowed), allowed.size()));
  return static_cast<std::size_t>(known - allowed.begin());
}

void Translation::expect(std::string_view field, std::string_view allowed, const std::string& why) {
  const Node* const node = find(field);
  if (node == nullptr) return;
  const std::optional<double> value = as_number(*node);
  const bool same = node->scalar == allowed || (value && *value == as_number(make_scalar(std::string(allowed), {})));
  if (node->kind == Node::Kind::scalar && same) return;
  refuse(field, "found " + found(*node) + ", expected " + std::string(allowed) + ": " + why);
}

void Translation::expect_inside(std::string_view field,
                                std::initializer_list<std::pair<std::string_view, std::string_view>> expected,
                                std::initializer_list<std::string_view> idle) {
  const Node* const mapping = find(field);
  if (mapping == nullptr) return;
  if (mapping->kind != Node::Kind::mapping) refuse(field, "found " + found(*mapping) + ", expected a mapping");
  for (const Entry& entry : mapping->entries) {
    const std::string path = join(field, entry.key);
    if (entry.value.kind == Node::Kind::nothing || std::ranges::find(idle, entry.key) != idle.end()) continue;
    const auto known = std::ranges::find_if(expected, [&](const auto& each) { return each.first == entry.key; });
    if (known == expected.end())
      refuse_at(entry.place, path,
                "found a field of which it is not known what it changes in a model of type " + std::string(type_.name));
    if (entry.value.scalar != known->second)
      refuse_at(entry.value.place, path,
                "found " + found(entry.value) + ", expected " + std::string(known->second) + ": nothing else is built");
  }
}

void Translation::say(std::string_view key, Node value) { say_at(model_, key, std::move(value)); }

void Translation::say(std::string_view key, const std::string& value, std::string_view field) {
  say(key, make_scalar(value, place(field)));
}

void Translation::say(std::string_view key, const std::string& value) { say(key, make_scalar(value, config_.place)); }

void Translation::copy(std::string_view key, std::string_view field, std::int64_t least) {
  say(key, std::to_string(whole(field, least)), field);
}

void Translation::unknown(const Entry& entry) const {
  std::vector<std::string_view> known(type_.without_effect.begin(), type_.without_effect.end());
  for (const ConfigField& field : type_.fields) known.push_back(field.name);
  known.insert(known.end(), std::begin(kWithoutEffect), std::end(kWithoutEffect));
  fail(entry.place, text_.path,
       "found the field " + in_quotes(entry.key) + ", of which it is not known what it changes in a model of type " +
           std::string(type_.name) + did_you_mean(entry.key, known) +
           " (docs/hugging-face.md lists those that are known)");
}

std::string Translation::source() const {
  std::vector<std::string> left_out;
  for (const ConfigField& field : type_.fields)
    if (asked_.contains(field.name) && field.fallback != kMustBeGiven && config_.find(field.name) == nullptr &&
        field.fallback != kNull)
      left_out.push_back(std::string(field.name) + ' ' + std::string(field.fallback));
  std::string all = "Hugging Face configuration of model_type " + std::string(type_.name) + '.';
  if (!text_.path.empty() || !text_.left_out.empty()) all += of_text_alone(text_);
  if (!left_out.empty())
    all += " Left out, and so as " + std::string(type_.configuration) + " has it: " + listed(left_out) + '.';
  if (!idle_.empty()) all += " Without effect on a forecast: " + listed(idle_) + '.';
  return all;
}

Node Translation::finish(const std::string& name) {
  for (const Entry& entry : config_.entries) {
    if (asked_.contains(entry.key)) continue;
    const auto only =
        std::ranges::find(kOnlyAs, std::string_view(entry.key), [](const auto& each) { return each.first; });
    if (only != std::end(kOnlyAs)) {
      expect(entry.key, only->second, "nothing else is built");
      continue;
    }
    const bool idle =
        is_empty(entry.value) || is_listed(entry.key, kWithoutEffect) || is_listed(entry.key, type_.without_effect);
    if (!idle) unknown(entry);
    if (entry.key != "model_type") idle_.push_back(entry.key);
  }
  say("name", name);
  say("source", source());
  return std::move(model_);
}

}  // namespace stepcast::language
