#include "language/hugging_face/read_config.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "calibrate/logs/json_text.h"
#include "language/core/nearest.h"
#include "language/core/type.h"
#include "language/core/yaml.h"
#include "language/hugging_face/model_type.h"
#include "language/hugging_face/not_built.h"
#include "language/hugging_face/text_model.h"
#include "language/hugging_face/translation.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostLabels = 25'000;  // ImageNet-22k's classes have one each

/// Python, which writes these files, has words for numbers that JSON has not: `"time_step_limit": [0.0, Infinity]`. The
/// text with a number and spaces in place of each.
std::string without_words_of_python(std::string text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (quoted && text[at] == '\\') ++at;
    if (quoted) continue;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
      if (text.compare(at, word.size(), word) == 0)
        text.replace(at, word.size(), "0" + std::string(word.size() - 1, ' '));
  }
  return text;
}

/// YAML, which the text is read as for the places of its values, takes much that JSON does not: `{"vocab_size": }`.
void check_json(const std::string& written, const std::string& file) {
  calibrate::check_json_text(file, without_words_of_python(written));
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
    if (const std::string_view why = not_built(word->scalar); !why.empty())
      fail(word->place, join(path, "model_type"),
           "found " + found(*word) + ", which has " + std::string(why) +
               ": these are not built; expected one of the types of docs/hugging-face.md, or model.family with sizes");
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

Node translate(const ModelType& type, const TextModel& text, const std::string& file) {
  Translation t(type, text);
  type.translate(t);
  say_precision(text.fields, t);
  return t.finish(name_of(file, type));
}

}  // namespace

Node read_hugging_face_config(const std::string& text, const std::string& file) {
  check_json(text, file);
  const Node config = parse_yaml(text, file, kMostLabels);
  TextModel model = find_text_model(config);
  const ModelType& type = model_type_of(model.fields, model.path);
  if (model.path.empty())
    check_architecture(type, model.fields);
  else
    take_from_top(config, type, model);
  return translate(type, model, file);
}

}  // namespace stepcast::language
