#pragma once

#include <string>

#include "language/core/schema.h"

namespace stepcast::language {

/// The keys of a model, from the text of a `config.json` as the Hugging Face Hub has it. Every value has the place of
/// the field that it is from; `source` lists the fields that are left out and those without effect. Throws InputError
/// with the place and the name of the field for a model type that is not known, a field of which it is not known what
/// it changes, and one that says what no model here has.
Node read_hugging_face_config(const std::string& text, const std::string& file);

/// Of model_schema().
inline constexpr JsonFiles kHuggingFaceFiles{"config.json", read_hugging_face_config};

}  // namespace stepcast::language
