#pragma once

#include <string_view>

namespace stepcast::app {

/// The page of reports without results, as report/ builds it (docs/report.md). Empty: it was not built.
std::string_view page_template();

}  // namespace stepcast::app
