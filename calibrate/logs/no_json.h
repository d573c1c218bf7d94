#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/input_error.h"

namespace stepcast::calibrate {

/// What is wrong with `text`, of which nlohmann's parser complained at the `byte`th byte (from 1), in plain words and
/// with file:line:column.
InputError no_json(const std::string& file, std::string_view text, std::size_t byte, std::string_view complaint);

/// file:line:column of the `byte`th byte (from 1).
std::string json_place(const std::string& file, std::string_view text, std::size_t byte);

}  // namespace stepcast::calibrate
