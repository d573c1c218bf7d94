#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "language/core/tree.h"

namespace stepcast::language {

/// Keys of one mapping, read or merged: several times what the largest block has, and few enough to walk.
inline constexpr std::size_t kMostKeys = 500;

/// One YAML document as a tree. `file` is what error messages call it. Throws InputError with file:line:column for
/// text that is no YAML, a key written twice, a second document, a top level that is no mapping, and for nesting or
/// aliases beyond any scenario (32 levels, 100,000 values once aliases are written out).
/// JSON is read as the YAML that it nearly is, with as many keys in a mapping as JSON has: `most_keys`.
Node parse_yaml(std::string_view text, const std::string& file, std::size_t most_keys = kMostKeys);

/// The same of a document whose top level may also be a list.
Node parse_yaml_document(std::string_view text, const std::string& file, std::size_t most_keys = kMostKeys);

}  // namespace stepcast::language
