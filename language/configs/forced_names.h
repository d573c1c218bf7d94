#pragma once

#include <string_view>

#include "language/core/read_mapping.h"
#include "sim/input_error.h"

namespace stepcast::language {

/// What a list says as NCCL_ALGO and NCCL_PROTO take it, by one of collectives/forced.h; complains at the value's
/// place.
template <class Forced>
Forced forced_names(const Value& v, Forced (*parse)(std::string_view)) {
  try {
    return parse(v.text);
  } catch (const InputError& error) {
    fail(v.node->place, v.path, error.what());
  }
}

}  // namespace stepcast::language
