#include "app/report/residuals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/text_table.h"
#include "calibrate/confidence/traits.h"

namespace stepcast::app {

std::string residuals_csv(const Comparison& comparison) {
  std::string out = csv_line({"table", "name", "gpu", "software", "family", "kinds", "sizes", "error"});
  for (const ComparedRow& row : comparison.rows) {
    if (!row.error) continue;
    const language::Question& q = row.answer->question;
    const calibrate::Traits traits = calibrate::traits(q.scenario);
    std::vector<std::string> sizes;
    for (const auto& [name, size] : traits.sizes) sizes.push_back(fmt::format("{}={}", name, size));
    out += csv_line({q.table, q.name, traits.gpu, traits.software, traits.family,
                     fmt::format("{}", fmt::join(traits.kinds, ";")), fmt::format("{}", fmt::join(sizes, ";")),
                     fmt::format("{:.3f}", *row.error)});
  }
  return out;
}

}  // namespace stepcast::app
