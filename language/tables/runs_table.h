#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/schema.h"
#include "language/core/tree.h"
#include "language/tables/csv.h"

namespace stepcast::language {

/// A CSV file of scenarios: its header has the paths of keys ("parallelism.tensor"), each row below their values.
class RunsTable {
 public:
  /// `shown`: the file, as errors name it. `schema`: what its keys are keys of. Throws InputError for a header that has
  /// an unknown key or one twice, and for a table without rows or with too many.
  RunsTable(std::string_view content, const std::string& shown, const Schema& schema);

  std::size_t rows() const { return records_.size() - 1; }
  /// Where a row begins.
  Place place(std::size_t row) const;
  /// What a row says, as a layer of keys; an empty cell says nothing. Throws InputError for a row whose cells are not
  /// as many as the header's.
  Node layer(std::size_t row) const;

 private:
  const Schema& schema_;
  std::vector<Record> records_;  ///< the header first
};

/// Is the first record of the file the header of such a table? It is if a column is the path of a key of `schema` below
/// another key: names of one word are columns of other tables too.
bool is_runs_table(std::string_view content, const std::string& shown, const Schema& schema);

/// Of a stream, whose name says nothing: the first line that says something, of a table, is key paths with commas
/// between them.
bool looks_like_runs_table(std::string_view text);

}  // namespace stepcast::language
