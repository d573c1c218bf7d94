#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/comparison.h"
#include "language/tables/predictions.h"

namespace stepcast::app {

/// A row whose prediction is another one than it was, in the four digits that tables show.
struct MovedRow {
  std::string table, name;
  std::optional<double> old_s, new_s;  ///< seconds; nothing: there was none, or is none any more
  std::optional<double> measured_s;
};

/// In the order of the comparison. Old rows that it does not have are left out.
std::vector<MovedRow> moved_rows(const Comparison& now, const std::vector<language::OldPrediction>& old);

/// Old beside new for people, the most moved first, and each table's mean absolute error over the rows of both.
std::string moved_table(const Comparison& now, const std::vector<language::OldPrediction>& old);

}  // namespace stepcast::app
