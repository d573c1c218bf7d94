#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/core/read_mapping.h"

namespace stepcast::language {

/// The names of a list as NCCL_ALGO and NCCL_PROTO take them, by one of collectives/forced.h; complains at the value's
/// place.
std::vector<std::string> forced_names(const Value& v, std::vector<std::string> (*parse)(std::string_view));

}  // namespace stepcast::language
