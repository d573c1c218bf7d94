#include "app/sweep/summary.h"

#include <fmt/format.h>

#include "app/report/how_many.h"
#include "app/sweep/cells.h"
#include "sim/shell_quoted.h"

namespace stepcast::app {
void SweepSummary::add(const SweepColumns& columns, const SweepRow& row) {
  const std::string& fits = row.cells[columns.fits()];
  if (fits.empty()) {
    if (cannot_run++ == 0) first_error = row.cells[columns.error()];
    return;
  }
  if (fits == "false") {
    ++do_not_fit;
    return;
  }
  ++fit;
  const std::size_t step = *columns.of("step_time_s");
  const std::optional<double> time = number_in(row.cells[step]);
  if (time && (!fastest || *time < *number_in(fastest->cells[step]))) fastest = row;
}

std::string summary_text(const SweepSummary& summary) {
  std::string text =
      fmt::format("{}: {} fit",
                  how_many(summary.fit + summary.do_not_fit + summary.cannot_run + summary.left_out, "point"),
                  summary.fit) +
      (summary.fit == 1 ? "s" : "");
  if (summary.do_not_fit > 0)
    text += fmt::format(", {} {} not fit", summary.do_not_fit, summary.do_not_fit == 1 ? "does" : "do");
  if (summary.cannot_run > 0) text += fmt::format(", {} cannot run", summary.cannot_run);
  if (summary.left_out > 0) text += fmt::format(", {} left out", summary.left_out);
  return text;
}

std::string fastest_text(const SweepSummary& summary, const SweepColumns& columns) {
  if (!summary.fastest) return {};
  std::string text = "fastest that fits:";
  for (std::size_t i = 0; i < columns.axes(); ++i)
    text += " --set " + shell_quoted(columns.all()[i].title + "=" + summary.fastest->cells[i]);
  return text + fmt::format(", {:.4g} s", *number_in(summary.fastest->cells[*columns.of("step_time_s")]));
}

}  // namespace stepcast::app
