#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What an answer is written as: the word behind --format.
enum class Format : char { table, json, csv, jsonl };

/// Throws InputError("--format", ...) for a word that is not one of `allowed`.
Format parse_format(const std::string& word, const std::vector<std::string>& allowed = {"table", "json", "csv"});

}  // namespace stepcast::app
