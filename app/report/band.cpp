#include "app/report/band.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/report/step_text.h"

namespace stepcast::app {

std::string band_text(const std::optional<calibrate::Band>& band) {
  if (!band) return "-";
  return seconds_text(band->low) + " to " + step_text(band->high) + (band->in_range ? "" : " *");
}

std::string band_basis(const calibrate::Band& band) {
  const std::string rows = band.in_range ? fmt::format("{} ", band.rows) : "";
  return fmt::format("{:.0f}% of {}measured rows {}", 100 * calibrate::kCoverage, rows, band.like);
}

std::string reasons_text(const calibrate::Band& band) {
  constexpr std::size_t kShown = 3;
  const auto& all = band.out_of_range;
  const std::size_t shown = std::min(all.size(), kShown);
  const std::string more = all.size() > shown ? fmt::format("; {} more in --format json", all.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), "; "), more);
}

std::vector<std::string> band_cells(const std::optional<calibrate::Band>& band) {
  if (!band) return {"", "", ""};
  return {fmt::format("{}", to_seconds(band->low)), fmt::format("{}", to_seconds(band->high)),
          band->in_range ? "true" : "false"};
}

}  // namespace stepcast::app
