#pragma once

#include <optional>
#include <string>

namespace stepcast::app {

/// The number in a cell of a row; nothing: it is empty.
std::optional<double> number_in(const std::string& cell);

}  // namespace stepcast::app
