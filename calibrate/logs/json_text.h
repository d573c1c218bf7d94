#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sim/input_error.h"

namespace stepcast::calibrate {

/// What is no JSON but is taken for it.
enum class JsonExtras : bool { none, comments };

/// Lists and objects inside each other, at most: they are read, and written again, by functions that call themselves.
inline constexpr std::size_t kDeepestJson = 32;
/// What to throw for more of them.
InputError too_deep_json(const std::string& place);

/// Throws InputError at file:line:column for a text that is no JSON, and for one that its readers would not take as it
/// is meant: more than kDeepestJson lists and objects inside each other, a key twice in one object, a number past a
/// double's largest. What it lets pass, nlohmann's parser reads without an exception.
/// `on_key`: told of each key its path ("zero_optimization.stage") and the byte of its opening quote, from 1.
void check_json_text(const std::string& file, std::string_view text, JsonExtras extras = JsonExtras::none,
                     const std::function<void(const std::string& path, std::size_t byte)>& on_key = {});

}  // namespace stepcast::calibrate
