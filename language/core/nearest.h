#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepcast::language {

/// The name most like `word` if one is near enough to be what was meant, else nothing. Case does not count.
/// O(names x length^2).
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// "; did you mean 'dgx-a100-40gb' or 'dgx-a100-80gb'?" of all names that go on where the word ends, up to four; else
/// of the nearest; nothing where none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

/// How an error ends: "one of a, b, c", and "; did you mean 'b'?" where one is near; `most` names are enough then.
std::string one_of(std::string_view word, std::span<const std::string_view> names, std::size_t most = 24);

}  // namespace stepcast::language
