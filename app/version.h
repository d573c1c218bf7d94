#pragma once

#include <string_view>

namespace stepcast::app {

std::string_view version();  ///< "0.1.0"

}  // namespace stepcast::app
