#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "language/core/library.h"
#include "language/core/schema.h"

namespace stepcast::language {

/// Checks a mapping against the schema and hands each value to `store(key number, value)`. `path` is where the mapping
/// stands in the whole. Throws InputError for an unknown key (with the nearest name), a value of the wrong type, a key
/// not built yet, and a required key that is missing.
void read_mapping(const Schema& schema, const Node& mapping, const std::string& path, Library& library,
                  const std::function<void(std::size_t, const Value&)>& store);

/// Reads a mapping into a T that holds the defaults.
template <class T>
void read(const Table<T>& table, const Node& mapping, const std::string& path, Library& library, T& into) {
  read_mapping(table.schema, mapping, path, library, [&](std::size_t key, const Value& value) {
    if (table.keys[key].store != nullptr) table.keys[key].store(into, value);
  });
}

}  // namespace stepcast::language
