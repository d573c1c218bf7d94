#pragma once

#include <string>
#include <string_view>

#include "app/read/schema.h"
#include "app/read/tree.h"

namespace stepcast::app {

/// Lays mapping `over` on mapping `under`: mappings merge key by key, anything else replaces. The name of a file
/// under a mapping becomes its base (`model: gpt3-175b` and `model: {layers: 12}` give a shortened gpt3-175b), one of
/// a block's alternatives takes the other away (`gpus` over `nodes`), an erased key is gone. InputError past kMostKeys.
void merge(const Schema& schema, Node& under, const Node& over);

/// {a: {b: value}} for the path "a.b".
Node nest(std::string_view path, Node value);

}  // namespace stepcast::app
