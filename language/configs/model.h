#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "language/configs/files.h"
#include "scenario/model.h"

namespace stepcast::language {

/// A model as written: what may be left out is still open.
struct ModelDraft {
  schedules::Model model;
  std::optional<std::int64_t> kv_heads, ffn, image_size, inputs, decoder_layers;
  std::optional<std::string> pattern;
  std::int64_t image_channels = 3;
};

const Table<ModelDraft>& model_table();
const Schema& model_schema();

/// Fills in what the family says of keys left out. Throws InputError where it says nothing.
schedules::Model finish(const ModelDraft& draft, const Value& value);

}  // namespace stepcast::language
