#pragma once

#include <optional>
#include <string>

#include "schedules/forecast.h"

namespace stepcast::app {

/// What the words all, fitting and none say; nothing: the word is empty. Throws InputError at `place` for other words.
std::optional<schedules::Simulate> simulate_word(const std::string& word, const std::string& place = "--simulate");

}  // namespace stepcast::app
