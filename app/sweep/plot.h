#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/sweep/row.h"
#include "schedules/results/quantities.h"

namespace stepcast::app {

/// One axis of a drawing: a dimension of the grid.
struct PlotAxis {
  std::string title;                ///< its keys
  std::vector<std::string> labels;  ///< its values
  std::vector<double> places{};     ///< where it holds numbers, those
};

/// What a drawing shows at one place.
struct PlotCell {
  std::optional<double> value{};  ///< nothing: no plan there fits, or could run, or was asked
  bool does_not_fit = false;      ///< why there is none: a plan is there, and takes too much memory
};

/// A quantity of a sweep over its first dimension, or its first two. Of further dimensions each place has the best
/// value of all plans that fit: the least time or memory, the largest rate.
struct SweepPlot {
  std::string title;
  const schedules::ReportedQuantity* quantity = nullptr;
  PlotAxis x;
  std::optional<PlotAxis> y{};
  std::vector<PlotCell> cells{};  ///< by y, then by x

  const PlotCell& at(std::size_t column, std::size_t line) const { return cells[line * x.labels.size() + column]; }
};

/// `name`: the scenario's.
SweepPlot plot_of(const std::string& name, const SweepGrid& grid, const SweepColumns& columns,
                  std::span<const SweepRow> rows, const schedules::ReportedQuantity& quantity);

/// Requires y. A colour for each value, with the value on it.
std::string heat_map_svg(const SweepPlot& plot);

/// A curve over x for each value of y, or one. Where x has names, or numbers that do not rise, a bar for each.
std::string curves_svg(const SweepPlot& plot);

}  // namespace stepcast::app
