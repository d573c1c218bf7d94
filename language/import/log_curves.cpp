#include "language/import/log_curves.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "calibrate/logs/nccl_tests.h"
#include "language/core/file_text.h"
#include "language/core/operation_named.h"
#include "sim/input_error.h"

namespace stepcast::language {

std::vector<calibrate::Curve> parse_log_curves(const std::string& log, const std::string& file,
                                               const topology::Cluster& cluster,
                                               std::optional<std::uint32_t> gpus_per_process,
                                               std::optional<collectives::Operation> operation) {
  const std::string shown = shown_path(file);
  std::vector<calibrate::Curve> curves;
  for (const calibrate::NcclTestsTable& table : calibrate::parse_nccl_tests(log, shown)) {
    const std::string place = shown + ":" + std::to_string(table.rows.front().line);
    if (table.operation.empty() && !operation) {
      throw InputError(place, "the log does not say which operation this table is of, expected --op");
    }
    if (table.ranks != 0 && table.ranks != cluster.gpus()) {
      throw InputError(place, "found a table of " + std::to_string(table.ranks) + " ranks, expected " +
                                  std::to_string(cluster.gpus()) + ": give --gpus or --nodes");
    }
    calibrate::Curve curve{.name = std::filesystem::path(file).stem().string(),
                           .operation = table.operation.empty() ? *operation : operation_named(table.operation, place),
                           .cluster = cluster,
                           .group = {},
                           .gpus_per_process = gpus_per_process.value_or(std::max(table.gpus_per_process, 1u)),
                           .points = {}};
    if (!curves.empty()) curve.name += "-" + std::to_string(curves.size() + 1);
    for (std::uint32_t g = 0; g < cluster.gpus(); ++g) curve.group.push_back(topology::GpuId{g});
    std::map<std::int64_t, Time> times;
    for (const calibrate::NcclTestsRow& row : table.rows) {
      if (row.size.value <= 0) continue;
      const Time time = row.in_place ? Time{(row.out_of_place + *row.in_place).value / 2} : row.out_of_place;
      if (time <= Time{}) throw InputError(shown + ":" + std::to_string(row.line), "found a time of 0");
      if (!times.emplace(row.size.value, time).second) {
        throw InputError(shown + ":" + std::to_string(row.line),
                         "found " + std::to_string(row.size.value) + " B a second time in one table");
      }
    }
    for (const auto& [size, time] : times) curve.points.push_back({{size}, time});
    if (curve.points.empty()) throw InputError(place, "no rows with a size above 0");
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace stepcast::language
