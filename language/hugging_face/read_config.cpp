#include "language/hugging_face/read_config.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "calibrate/logs/no_json.h"
#include "language/core/nearest.h"
#include "language/core/type.h"
#include "language/core/yaml.h"
#include "language/hugging_face/model_type.h"
#include "language/hugging_face/translation.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostLabels = 25'000;  // ImageNet-22k's classes have one each

/// YAML, which the text is read as for the places of its values, takes much that JSON does not: `{"vocab_size": }`.
void check_json(const std::string& text, const std::string& file) {
  using nlohmann::json;
  if (json::accept(text)) return;
  try {
    [[maybe_unused]] const json whole = json::parse(text);
  } catch (const json::parse_error& error) {
    throw calibrate::no_json(file, text, error.byte, error.what());
  } catch (const json::exception&) {
    throw InputError(file, "found a number that is too large for JSON's readers");
  }
}

/// The first of `architectures`, where there is one.
const Node* architecture(const Node& config) {
  const Node* const all = config.find("architectures");
  if (all != nullptr && all->kind == Node::Kind::scalar) return all;
  return all == nullptr || all->items.empty() || all->items[0].kind != Node::Kind::scalar ? nullptr : &all->items[0];
}

bool trains_as(const ModelType& type, const std::string& architecture) {
  return std::ranges::find(type.architectures, architecture) != type.architectures.end();
}

/// By model_type, or where there is none by the architecture.
const ModelType& model_type_of(const Node& config, const std::string& path) {
  std::vector<std::string_view> names, architectures;
  for (const ModelType* each : model_types()) {
    names.push_back(each->name);
    architectures.insert(architectures.end(), each->architectures.begin(), each->architectures.end());
  }
  const Node* const word = config.find("model_type");
  if (word != nullptr && word->kind != Node::Kind::nothing) {
    for (const ModelType* each : model_types())
      if (each->name == word->scalar) return *each;
    fail(word->place, join(path, "model_type"),
         "found " + found(*word) + ", expected " + one_of(word->scalar, names, names.size()));
  }
  const Node* const first = architecture(config);
  if (first == nullptr)
    fail(config.place, join(path, "model_type"), "missing, expected " + one_of("", names, names.size()));
  for (const ModelType* each : model_types())
    if (trains_as(*each, first->scalar)) return *each;
  fail(first->place, join(path, "architectures"),
       "found " + found(*first) + ", expected " + one_of(first->scalar, architectures, architectures.size()));
}

void check_architecture(const ModelType& type, const Node& config) {
  const Node* const first = architecture(config);
  if (first == nullptr || trains_as(type, first->scalar)) return;
  fail(first->place, "architectures",
       "found " + found(*first) + ", expected of model_type " + std::string(type.name) + " " +
           one_of(first->scalar, std::vector<std::string_view>(type.architectures.begin(), type.architectures.end())));
}

/// The format of weights that `compressed-tensors` has: 8-bit floating point alone is one that is trained in.
bool is_compressed_fp8(const Node& quantization) {
  const Node* const groups = quantization.find("config_groups");
  if (groups == nullptr || groups->entries.empty()) return false;
  return std::ranges::all_of(groups->entries, [](const Entry& group) {
    const Node* const weights = group.value.find("weights");
    const Node* const bits = weights == nullptr ? nullptr : weights->find("num_bits");
    const Node* const type = weights == nullptr ? nullptr : weights->find("type");
    return bits != nullptr && type != nullptr && bits->scalar == "8" && type->scalar == "float";
  });
}

/// What quantized weights are trained in: fp8 or nvfp4. Any other method is said with its field, which no precision has
/// as its name: an error there, unless the scenario says another precision over it.
void say_precision(const Node& config, Translation& t) {
  const Node* const quantization = t.find("quantization_config");
  if (quantization == nullptr) return;
  const Node* method = quantization->find("quant_method");
  const Node* const algorithm = quantization->find("quant_algo");
  std::string field = "quantization_config.quant_method";
  if (algorithm != nullptr && (method == nullptr || method->scalar.starts_with("modelopt"))) {
    method = algorithm;
    field = "quantization_config.quant_algo";
  }
  if (method == nullptr || method->kind != Node::Kind::scalar)
    fail(locate(config, "quantization_config"), field,
         "missing, expected the method that the weights are quantized by");
  const std::string& word = method->scalar;
  const bool fp8 = word == "fp8" || word == "FP8" || word == "fbgemm_fp8" ||
                   (word == "compressed-tensors" && is_compressed_fp8(*quantization));
  Node said = *method;
  said.scalar = fp8 ? "fp8" : word == "NVFP4" ? "nvfp4" : field + ' ' + word;
  t.say("precision", said);
}

/// What people call it: its folder or its file.
std::string name_of(const std::string& file, const ModelType& type) {
  const std::filesystem::path path(file);
  const std::string stem = path.stem().string();
  if (stem != "config" && !stem.empty()) return stem;
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() || folder == "." || folder == ".." ? std::string(type.name) : folder;
}

Node translate(const ModelType& type, const Node& config, const std::string& path, const std::string& file) {
  Translation t(type, config, path);
  type.translate(t);
  say_precision(config, t);
  return t.finish(name_of(file, type));
}

bool is_of_images(const std::string& field) {
  return field.ends_with("_token_id") || field.ends_with("_token_index") || field.ends_with("_tokens_per_image") ||
         field == "architectures" || field == "model_type" || field == "torch_dtype" || field == "dtype" ||
         field == "transformers_version" || field == "initializer_range" || field == "auto_map" || field == "use_cache";
}

/// The text model inside one of several kinds of input, where the file has no part for the other kinds.
Node translate_text_model(const Node& config, const std::string& file) {
  Node inner = *config.find("text_config");
  if (inner.kind != Node::Kind::mapping)
    fail(inner.place, "text_config", "found " + found(inner) + ", expected a mapping");
  for (const Entry& entry : config.entries) {
    if (entry.key == "text_config" || entry.value.kind == Node::Kind::nothing || is_of_images(entry.key)) continue;
    if (entry.key.ends_with("_config") && entry.key != "quantization_config")
      fail(entry.place, entry.key,
           "found a model of another kind of input beside the text model, which is not built; expected text_config "
           "alone");
    if (inner.find(entry.key) == nullptr) inner.entries.push_back(entry);
  }
  return translate(model_type_of(inner, "text_config"), inner, "text_config", file);
}

}  // namespace

Node read_hugging_face_config(const std::string& text, const std::string& file) {
  check_json(text, file);
  const Node config = parse_yaml(text, file, kMostLabels);
  const Node* const inner = config.find("text_config");
  if (inner != nullptr && inner->kind != Node::Kind::nothing) return translate_text_model(config, file);
  const ModelType& type = model_type_of(config, "");
  check_architecture(type, config);
  return translate(type, config, "", file);
}

}  // namespace stepcast::language
