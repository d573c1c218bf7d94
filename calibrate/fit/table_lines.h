#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace stepcast::calibrate {

/// Reads a small table of measurements: lines that start with # and empty lines are skipped, the first other line must
/// be `header`, each one after it is handed to `row` with its place ("file:line"). Throws InputError.
void read_table_lines(const std::string& path, const std::string& header,
                      const std::function<void(const std::string& line, const std::string& place)>& row);

/// The same of what was read already; `path` is what messages call it.
void parse_table_lines(std::istream& table, const std::string& path, const std::string& header,
                       const std::function<void(const std::string& line, const std::string& place)>& row);

}  // namespace stepcast::calibrate
