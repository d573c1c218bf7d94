#pragma once

#include <span>
#include <string_view>

namespace stepcast::language {

class Translation;

/// A field of a Hugging Face configuration that decides what a model is made of.
struct ConfigField {
  std::string_view name;
  /// What the configuration class of the model type has where a file leaves the field out, as JSON writes it: "null"
  /// for nothing, kMustBeGiven where the class has no value of its own.
  std::string_view fallback;
};
inline constexpr std::string_view kMustBeGiven = "must be given";
inline constexpr std::string_view kNull = "null";

/// One `model_type` of Hugging Face configurations. Adding one is one entry of a list in families/.
struct ModelType {
  std::string_view name;                             ///< "llama"
  std::span<const std::string_view> architectures;   ///< that train as models of this type do: "LlamaForCausalLM"
  std::string_view configuration;                    ///< the class whose defaults `fields` has: "LlamaConfig"
  std::span<const ConfigField> fields;               ///< those that `translate` asks for
  std::span<const std::string_view> without_effect;  ///< others, beside those of every type, that no forecast needs
  void (*translate)(Translation& t) = nullptr;       ///< asks for every field and says the keys of the model
};

/// All of them, in the order of docs/hugging-face.md.
std::span<const ModelType* const> model_types();

}  // namespace stepcast::language
