#pragma once

#include <string>
#include <vector>

#include "language/core/tree.h"
#include "language/core/type.h"

namespace stepcast::language {

/// What is allowed, as error messages and the reference say it: "a whole number of at least 1".
std::string expected(const Type& type);

/// Checks a node (no block, no list) against its type. Throws InputError: file:line:column: path: found, expected.
Value convert(const Type& type, const Node& node, const std::string& path);

/// The items of a list, each of one type.
std::vector<Value> items(const Type& type, const Value& list);

}  // namespace stepcast::language
