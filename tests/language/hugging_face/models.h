#pragma once

#include <string>

#include "language/configs/files.h"
#include "language/configs/model.h"
#include "language/hugging_face/read_config.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {

/// A config.json of a small Llama, with more fields at the end of its second line.
inline std::string small_llama(const std::string& more = "") {
  return R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
 "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 1000)" +
         more + "}\n";
}

/// The model that the text of a config.json stands for.
inline schedules::Model hugging_face_model(const std::string& text) {
  Library library = configs();
  const Node keys = read_hugging_face_config(text, "folder/config.json");
  Value value;
  value.node = &keys;
  value.library = &library;
  return finish(read_block(model_table(), value), value);
}

/// Of all of it, for samples of the usual length where its positions are learned and not limited.
inline double parameters_of(const schedules::Model& model) {
  schedules::Scenario scenario;
  scenario.model = model;
  scenario.training.micro_batch = scenario.training.global_batch = 1;
  if (model.family == schedules::Family::t5) scenario.training.decoder_sequence = scenario.training.sequence;
  const schedules::Blocks blocks = schedules::blocks(scenario);
  return schedules::parameters(blocks, schedules::cut(blocks, 1));
}

}  // namespace stepcast::language
