#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/core/library.h"
#include "language/core/schema.h"

namespace stepcast::app {

/// One thing worth knowing of a named thing: for a table ("memory", "80.0 GiB") and for programs ("memory_bytes",
/// 85899345920).
struct Fact {
  std::string_view title, key;
  std::string text;
  nlohmann::ordered_json value;
};

/// A kind of named things that scenarios and options choose from: the files of one folder of configs/, or a list of the
/// program's own.
struct CatalogueKind {
  std::string_view name;                          ///< "gpus": what `stepcast list` calls it, and the folder
  std::string_view summary;                       ///< one line
  const language::Schema& (*schema)() = nullptr;  ///< of its files; nullptr: there are none, the program knows them
  std::vector<std::string> (*names)(const language::Library&) = nullptr;
  /// What a list says of one, the same facts for each of the kind. Throws InputError where its file is wrong.
  std::vector<Fact> (*facts)(const std::string& name, language::Library&) = nullptr;
  /// Of one without a file: all that is known.
  std::vector<Fact> (*details)(const std::string& name) = nullptr;
};

/// Every kind, in the order help and lists print them.
std::span<const CatalogueKind> catalogue();

/// Throws InputError(place, ...) with all kinds for another name.
const CatalogueKind& catalogue_kind(const std::string& name, const std::string& place);

}  // namespace stepcast::app
