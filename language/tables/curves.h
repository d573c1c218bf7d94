#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/curve.h"
#include "language/core/library.h"

namespace stepcast::language {

/// A recorded curve of a table of curves.
struct CurveRow {
  calibrate::Curve curve;
  std::string software;  ///< the stack that predicts it: a file of configs/software/
  std::string link;      ///< of the nodes' adapters, a file of configs/links/; empty inside a node
  std::string machine;   ///< one installation as one source recorded it
  bool fitted = false;   ///< constants are fitted to it; otherwise it is only shown
};

/// Reads a table (.csv) of curves: the columns are keys of `keys`, clusters as in scenarios ("cluster.node"); each
/// row's `curve` names a file NAME.csv beside the table with the columns size_bytes,time_us.
/// Throws InputError with file:line:column.
std::vector<CurveRow> read_curves(const std::filesystem::path& table, Library& library);

/// The same of what was read from `table` already.
std::vector<CurveRow> parse_curves(std::string_view content, const std::filesystem::path& table, Library& library);

/// Is the first record of the file the header of such a table?
bool is_curve_table(std::string_view content, const std::string& shown);

}  // namespace stepcast::language
