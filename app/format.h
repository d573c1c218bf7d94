#pragma once

#include <string>

namespace stepcast::app {

/// What an answer is written as: the word behind --format.
enum class Format : char { table, json, csv };

/// Throws InputError("--format", ...) for another word.
Format parse_format(const std::string& word);

}  // namespace stepcast::app
