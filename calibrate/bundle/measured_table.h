#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::calibrate {

/// One row of a measured table, still as text.
struct MeasuredRow {
  std::string place;  ///< "kernels.csv:12"
  std::vector<std::string> cells;
};

/// A file of a bundle: "# stepcast measurement 1", "# run ID", comments, the header, rows, "# end N".
struct MeasuredTable {
  std::string run;
  std::vector<MeasuredRow> rows;
};

/// Takes a file of a bundle apart. `columns` is what its header must be; `file` is what messages call it. With
/// `rest_in_last`, the last column holds the rest of the line, commas included. Cells may be quoted as RFC 4180 says.
/// Throws InputError with file:line for another first line, a run without a name, another header, a row with more or
/// fewer cells, bytes that are no printable ASCII, and for a file that does not end with the line "# end N", N its
/// rows: it was cut off. O(characters).
MeasuredTable parse_measured_table(std::string_view text, const std::string& file,
                                   std::span<const std::string_view> columns, bool rest_in_last = false);

}  // namespace stepcast::calibrate
