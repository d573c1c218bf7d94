#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepcast::app {

/// A document and a line end. In texts, all that a terminal would act on stands as \uXXXX (JSON asks that of the first
/// 32 characters only), and bytes that are no UTF-8 as U+FFFD. `indent` below 0: on one line.
std::string json_text(const nlohmann::ordered_json& document, int indent = 2);

}  // namespace stepcast::app
