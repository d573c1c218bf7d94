#include "app/sweep/table.h"

#include <algorithm>

#include "app/report/figure.h"
#include "app/report/text_table.h"
#include "app/sweep/cells.h"

namespace stepcast::app {
namespace {

using Align = TextTable::Align;

/// A quantity that the table shows, with the head of its column.
struct ShownQuantity {
  std::string_view key, title;
};
constexpr ShownQuantity kShown[] = {{"gpus", "GPUs"},
                                    {"step_time_s", "step"},
                                    {"tokens_per_s", "tokens/s"},
                                    {"samples_per_s", "samples/s"},
                                    {"model_flops_per_s_per_gpu", "TFLOP/s/GPU"},
                                    {"mfu", "MFU"},
                                    {"peak_memory_bytes", "memory"}};

schedules::Unit unit_of(std::string_view key) {
  return std::ranges::find(schedules::quantities(), key, &schedules::ReportedQuantity::key)->unit;
}

std::string shown(const std::string& cell, schedules::Unit unit) {
  const std::optional<double> value = number_in(cell);
  if (!value) return "-";
  std::string figure = text(Figure(*value), unit);
  constexpr std::string_view kInHead = " TFLOP/s";
  if (figure.ends_with(kInHead)) figure.resize(figure.size() - kInHead.size());
  return figure;
}

}  // namespace

std::string sweep_table(const SweepColumns& columns, std::span<const SweepRow> rows) {
  const auto some_have = [&](std::string_view key) {
    return std::ranges::any_of(rows, [at = *columns.of(key)](const SweepRow& row) { return !row.cells[at].empty(); });
  };
  const bool samples = some_have("samples_per_s") && !some_have("tokens_per_s");
  std::vector<TextTable::Column> titles;
  for (std::size_t i = 0; i < columns.axes(); ++i)
    titles.push_back(
        {columns.all()[i].title, columns.all()[i].kind == SweepColumns::Kind::number ? Align::right : Align::left});
  std::vector<std::pair<std::size_t, schedules::Unit>> quantities;
  for (const auto& [key, title] : kShown) {
    if (key == (samples ? "tokens_per_s" : "samples_per_s")) continue;
    quantities.emplace_back(*columns.of(key), unit_of(key));
    titles.push_back({std::string(title), Align::right});
  }
  titles.push_back({"", Align::left});
  TextTable table(std::move(titles));
  std::vector<Bar> bars;
  for (const SweepRow& row : rows) {
    const std::optional<double> step = number_in(row.cells[*columns.of("step_time_s")]);
    bars.push_back(step ? plain_bar(*step) : Bar{});
    std::vector<std::string> cells(row.cells.begin(), row.cells.begin() + static_cast<std::ptrdiff_t>(columns.axes()));
    for (const auto& [column, unit] : quantities) cells.push_back(shown(row.cells[column], unit));
    cells.push_back(row.cells[columns.error()]);
    table.add(std::move(cells));
  }
  table.draw_bars(columns.axes() + 1, std::move(bars));  // behind the GPUs is the step
  return table.text();
}

}  // namespace stepcast::app
