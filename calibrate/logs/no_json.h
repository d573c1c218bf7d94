#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/input_error.h"

namespace stepcast::calibrate {

/// What is wrong with `text`, of which nlohmann's parser complained at the `byte`th byte (from 1), in plain words and
/// with file:line:column.
InputError no_json(const std::string& file, std::string_view text, std::size_t byte, std::string_view complaint);

/// Where a byte of a text is, from 1.
struct LineAndColumn {
  std::uint32_t line = 0, column = 0;
};

/// Of the `byte`th byte (from 1).
LineAndColumn line_and_column(std::string_view text, std::size_t byte);

/// The same as file:line:column.
std::string json_place(const std::string& file, std::string_view text, std::size_t byte);

}  // namespace stepcast::calibrate
