#pragma once

#include <string>
#include <vector>

#include "language/core/schema.h"
#include "language/core/tree.h"

namespace stepcast::language {

/// A key given by its path: behind --set or another option, or in a cell of a runs table.
struct Given {
  std::string path;
  std::string text;  ///< nothing: the key is taken away from what the layer lies on
  Place place;       ///< of the value; of an option, its text without a line
};

/// Throws InputError at `place` where the schema has no key of that path: with the nearest, or with the keys below it.
void require_key(const Schema& schema, const std::string& path, const Place& place);

/// "key=value" behind --set, where a key that `prefix` begins may be meant: "transport." for "software.". Throws
/// InputError for other text and for a key that is not there.
Given read_set(const Schema& schema, const std::string& setting, const std::string& prefix = {});

/// One layer of all keys given together; their order says nothing, but of two --set of one key the last one counts.
/// Throws InputError where two of them contradict each other, or a value is no one-line text of its key.
Node layer_of(const Schema& schema, std::vector<Given> together, const Place& place);

}  // namespace stepcast::language
