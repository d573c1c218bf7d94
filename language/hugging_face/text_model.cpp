#include "language/hugging_face/text_model.h"

#include <algorithm>
#include <array>
#include <span>

#include "language/core/type.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

using Words = std::span<const std::string_view>;

// Names of the part with the text model: of transformers, of InternVL and of DeepSeek-VL2.
constexpr std::array<std::string_view, 3> kTextParts{"text_config", "llm_config", "language_config"};

// Names of the other parts where the text model has none of its own, but its fields at the top.
constexpr std::array<std::string_view, 4> kOtherParts{"vision_config", "audio_config", "video_config", "speech_config"};

// What names of fields have in them that are about other inputs than text.
constexpr std::array<std::string_view, 6> kOtherInputs{"image_", "img_", "video_", "vision_", "audio_", "mm_"};

// What the top of a file says for the text model below it.
constexpr std::array<std::string_view, 2> kOfTheWhole{"tie_word_embeddings", "quantization_config"};

// How names of architectures end that are trained to continue a text.
constexpr std::array<std::string_view, 4> kWritesText{"ForConditionalGeneration", "ForCausalLM", "LMHeadModel",
                                                      "ChatModel"};

bool is_one_of(std::string_view word, Words words) { return std::ranges::find(words, word) != words.end(); }

bool is_of_other_input(std::string_view field) {
  return std::ranges::any_of(kOtherInputs, [&](std::string_view part) { return field.find(part) != field.npos; });
}

/// Of the top of a file whose text model has a part of its own, where no other part is.
bool is_idle_at_top(std::string_view field) {
  return is_of_other_input(field) || field.ends_with("_token_id") || field.ends_with("_token_index") ||
         field.ends_with("_tokens_per_image") || field == "model_type" || field == "torch_dtype" || field == "dtype" ||
         field == "transformers_version" || field == "initializer_range" || field == "auto_map" || field == "use_cache";
}

/// Where the text model has a part of its own, whatever else has one is not text.
bool is_other_part(const Entry& entry) {
  return entry.value.kind == Node::Kind::mapping && entry.key.ends_with("_config") &&
         !is_one_of(entry.key, kTextParts) && !is_one_of(entry.key, kOfTheWhole);
}

/// Of the text model's own fields those that are about the parts left out.
void move_joints(TextModel& text) {
  std::erase_if(text.fields.entries, [&](const Entry& entry) {
    const bool joins = is_of_other_input(entry.key);
    if (joins) text.joints.push_back(join(text.path, entry.key));
    return joins;
  });
}

TextModel at_top(const Node& config) {
  TextModel text{config, "", {}, {}};
  for (const Entry& entry : config.entries)
    if (is_one_of(entry.key, kOtherParts) && entry.value.kind == Node::Kind::mapping)
      text.left_out.push_back(entry.key);
  if (text.left_out.empty()) return text;
  std::erase_if(text.fields.entries,
                [&](const Entry& entry) { return std::ranges::find(text.left_out, entry.key) != text.left_out.end(); });
  move_joints(text);
  return text;
}

/// A head that is not the text model's, such as one that sorts into classes, would be missed.
void check_architectures(const Entry& entry) {
  for (const Node& item : entry.value.items)
    if (std::ranges::none_of(kWritesText, [&](std::string_view end) { return item.scalar.ends_with(end); }))
      fail(item.place, entry.key,
           "found " + found(item) + ", expected one that writes text: ...ForConditionalGeneration or ...ForCausalLM");
}

}  // namespace

TextModel find_text_model(const Node& config) {
  for (const std::string_view name : kTextParts) {
    const Node* const part = config.find(name);
    if (part == nullptr || part->kind == Node::Kind::nothing) continue;
    if (part->kind != Node::Kind::mapping)
      fail(part->place, std::string(name), "found " + found(*part) + ", expected a mapping");
    return {*part, std::string(name), {}, {}};
  }
  return at_top(config);
}

void take_from_top(const Node& config, const ModelType& type, TextModel& text) {
  for (const Entry& entry : config.entries)
    if (is_other_part(entry)) text.left_out.push_back(entry.key);
  if (!text.left_out.empty()) move_joints(text);
  for (const Entry& entry : config.entries) {
    if (entry.key == text.path || entry.value.kind == Node::Kind::nothing || is_other_part(entry)) continue;
    if (entry.key == "architectures") {
      check_architectures(entry);
    } else if (is_one_of(entry.key, kOfTheWhole)) {
      if (text.fields.find(entry.key) == nullptr) text.fields.entries.push_back(entry);
    } else if (std::ranges::find(type.fields, entry.key, &ConfigField::name) != type.fields.end()) {
      if (text.fields.find(entry.key) == nullptr)
        fail(entry.place, entry.key,
             "found at the top, where a text model does not look for it, expected it in " + text.path);
    } else if (text.left_out.empty() && !is_idle_at_top(entry.key)) {
      if (text.fields.find(entry.key) == nullptr) text.fields.entries.push_back(entry);
    } else if (entry.key != "model_type") {
      text.joints.push_back(entry.key);
    }
  }
}

}  // namespace stepcast::language
