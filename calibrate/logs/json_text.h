#pragma once

#include <string>
#include <string_view>

namespace stepcast::calibrate {

/// What is no JSON but is taken for it.
enum class JsonExtras : bool { none, comments };

/// Throws InputError at file:line:column for a text that is no JSON, and for one that its readers would not take as it
/// is meant: lists and objects more than 32 inside each other, a key twice in one object, a number past a double's
/// largest. What it lets pass, nlohmann's parser reads without an exception.
void check_json_text(const std::string& file, std::string_view text, JsonExtras extras = JsonExtras::none);

}  // namespace stepcast::calibrate
