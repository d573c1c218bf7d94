#pragma once

#include <nlohmann/json_fwd.hpp>

#include "language/core/library.h"
#include "language/core/schema.h"

namespace stepcast::app {

/// What a file of `root`'s keys may say, as JSON Schema (draft 7, which editors know), made from the tables that read
/// it: keys, types, ranges, units, choices, and the names of the library's files. What two keys say together is not in
/// it.
nlohmann::ordered_json json_schema(const language::Schema& root, const language::Library& library);

}  // namespace stepcast::app
