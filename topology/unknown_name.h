#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepcast::topology {

/// Throws InputError: "PLACE: WHAT 'NAME' is unknown; did you mean 'NEAREST'? Allowed: a, b, c". The nearest name is
/// the one of the least edit distance, and is left out where half of the longer name or more would have to change.
[[noreturn]] void throw_unknown_name(const std::string& place, std::string_view what, std::string_view name,
                                     const std::vector<std::string_view>& allowed);

}  // namespace stepcast::topology
