#pragma once

#include <string>
#include <string_view>

namespace stepcast {

/// A word of a command line, as a shell takes it: in single quotes where it has more than letters, digits and signs
/// that mean nothing to a shell, or nothing at all.
std::string shell_quoted(std::string_view word);

}  // namespace stepcast
