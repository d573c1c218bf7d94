#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::language {

/// How much rank s sends rank d, as whole numbers of any unit: a table of as many rows (s) as columns (d), with commas
/// or blanks between; empty lines and lines that start with # are skipped. Row after row.
/// Throws InputError with file:line:column.
std::vector<std::int64_t> read_pair_weights(const std::string& file);

}  // namespace stepcast::language
