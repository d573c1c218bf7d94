#pragma once

#include <optional>
#include <string>
#include <vector>

#include "language/frameworks/text/statement.h"

namespace stepcast::language {

/// Statements whose names are paths, as the file nests them: in the order of each path's first statement.
struct FileSection {
  std::string name;
  std::optional<Statement> statement{};  ///< of a leaf
  std::vector<FileSection> inner{};
};

/// The whole file as a section without a name.
FileSection sections_of(const Statements& statements);

/// A value as JSON, TOML and YAML alike write it: a number, true, false or a list as it is, other text in quotes.
std::string value_text(const std::string& text);

/// "# ..." of each line, or what else begins a comment.
std::string comment_lines(const std::vector<std::string>& lines, std::string_view mark);

/// Whether a text is a file of keys, not a command: its first line that says something is "key:".
bool is_yaml(std::string_view text);

}  // namespace stepcast::language
