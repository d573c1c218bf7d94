#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepcast::language {

/// What an earlier version said of a row.
struct OldPrediction {
  std::string table;  ///< empty: the file does not say
  std::string name;
  std::optional<double> predicted_s;
};

/// Reads what `stepcast validate --format csv` or `json` wrote; of a CSV the columns name, predicted_s and, if it has
/// it, table. Throws InputError.
std::vector<OldPrediction> read_predictions(const std::filesystem::path& file);

}  // namespace stepcast::language
