#include "app/sweep/plot.h"

#include <algorithm>

#include "app/report/figure.h"
#include "app/sweep/cells.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Kind = language::Type::Kind;

std::optional<double> number_of(Kind kind, const std::string& value) {
  switch (kind) {
    case Kind::whole:
    case Kind::number:
      return number_in(value);
    case Kind::time:
      return static_cast<double>(parse_time(value)->value);
    case Kind::bytes:
      return static_cast<double>(parse_bytes(value)->value);
    case Kind::bandwidth:
      return parse_bandwidth(value)->value;
    case Kind::flop_rate:
      return parse_flop_rate(value)->value;
    case Kind::power:
      return parse_power(value)->value;
    case Kind::duration:
      return parse_duration(value)->value;
    default:
      return std::nullopt;
  }
}

PlotAxis plot_axis(const SweepGrid& grid, const SweepDimension& dimension) {
  PlotAxis axis;
  axis.labels.resize(dimension.size);
  for (const std::size_t each : dimension.axes) {
    const SweepAxis& keys = grid.axes()[each];
    axis.title += (axis.title.empty() ? "" : " / ") + keys.key;
    for (std::size_t i = 0; i < dimension.size; ++i)
      axis.labels[i] += (axis.labels[i].empty() ? "" : " / ") + keys.values[i];
  }
  const SweepAxis& first = grid.axes()[dimension.axes.front()];
  for (const std::string& value : first.values)
    if (const std::optional<double> place = number_of(first.info->type.kind, value)) axis.places.push_back(*place);
  if (!std::ranges::is_sorted(axis.places)) axis.places.clear();
  return axis;
}

bool is_better_low(schedules::Unit unit) {
  return unit == schedules::Unit::seconds || unit == schedules::Unit::bytes || unit == schedules::Unit::count;
}

}  // namespace

SweepPlot plot_of(const std::string& name, const SweepGrid& grid, const SweepColumns& columns,
                  std::span<const SweepRow> rows, const schedules::ReportedQuantity& quantity) {
  const std::vector<SweepDimension>& dimensions = grid.dimensions();
  SweepPlot plot{name + ": " + std::string(quantity.title) + (dimensions.size() > 2 ? ", best of the other axes" : ""),
                 &quantity,
                 plot_axis(grid, dimensions[0]),
                 {},
                 {}};
  if (dimensions.size() > 1) {
    plot.y = plot.x;
    plot.x = plot_axis(grid, dimensions[1]);
  }
  plot.cells.resize(plot.x.labels.size() * (plot.y ? plot.y->labels.size() : 1));
  const std::size_t column = *columns.of(quantity.key);
  for (const SweepRow& row : rows) {
    const std::vector<std::size_t> at = grid.position(row.point);
    PlotCell& cell = plot.cells[plot.y ? at[0] * plot.x.labels.size() + at[1] : at[0]];
    const std::string& fits = row.cells[columns.fits()];
    if (fits == "false") cell.does_not_fit = true;
    const std::optional<double> value = fits == "true" ? number_in(row.cells[column]) : std::nullopt;
    if (!value) continue;
    if (!cell.value || (is_better_low(quantity.unit) ? *value < *cell.value : *value > *cell.value)) cell.value = value;
  }
  return plot;
}

}  // namespace stepcast::app
