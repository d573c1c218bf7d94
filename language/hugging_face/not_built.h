#pragma once

#include <string_view>

namespace stepcast::language {

/// What a known `model_type` has that no model here can say, as the end of "which has ..."; "" of any other.
std::string_view not_built(std::string_view model_type);

}  // namespace stepcast::language
