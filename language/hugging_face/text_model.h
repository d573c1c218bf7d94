#pragma once

#include <string>
#include <vector>

#include "language/core/tree.h"
#include "language/hugging_face/model_type.h"

namespace stepcast::language {

/// What of a configuration is about text. One of several kinds of input (images, sound) has a part for each, and fields
/// that say how the parts are joined; only the text model is built.
struct TextModel {
  Node fields;
  std::string path;                   ///< where they stand in the file ("text_config"; "" for its top)
  std::vector<std::string> left_out;  ///< the parts for other kinds of input: "vision_config"
  std::vector<std::string> joints;    ///< fields that join them to the text model: "image_token_id"
};

/// Where the text model's fields stand: in a part of their own such as text_config, or at the top between the others.
/// Throws InputError for such a part that is no mapping.
TextModel find_text_model(const Node& config);

/// Takes from the top of a file, whose text model of this type has a part of its own, what holds for the text model
/// too, and names the rest. Throws InputError for a field of the type that the top alone says, and for an architecture
/// that does not write text.
void take_from_top(const Node& config, const ModelType& type, TextModel& text);

}  // namespace stepcast::language
