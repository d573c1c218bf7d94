#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepcast::app {

/// The name most like `word` if one is near enough to be what was meant, else nothing. Case does not count.
/// O(names x length^2).
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// How an error ends: "one of a, b, c", and "; did you mean 'b'?" where one is near; `most` names are enough then.
std::string one_of(std::string_view word, std::span<const std::string_view> names, std::size_t most = 24);

}  // namespace stepcast::app
