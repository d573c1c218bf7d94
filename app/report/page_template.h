#pragma once

#include <string_view>

namespace stepcast::app {

/// The page of reports without results, as report/ builds it (docs/report.md). Empty: it was not built.
std::string_view page_template();

/// Of the stepcast that it is part of: "0.1.0".
std::string_view page_version();

}  // namespace stepcast::app
