#include "app/report/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using calibrate::FittedModel;
using calibrate::FittedRow;
using calibrate::ProfileConstant;
using nlohmann::ordered_json;

constexpr std::size_t kWorstRows = 10;

double error_of(const FittedRow& row) { return row.predicted_s / row.measured_s - 1; }

std::string microseconds_text(double seconds) { return fmt::format("{:.3f}", seconds * 1e6); }

const FittedRow* worst_of(const FittedModel& model) {
  const auto worst = std::ranges::max_element(model.rows, {}, [](const FittedRow& r) { return std::abs(error_of(r)); });
  return worst == model.rows.end() ? nullptr : &*worst;
}

std::string models_text(const Calibration& calibration) {
  TextTable table({{"model", TextTable::Align::left},
                   {"rows"},
                   {"median error"},
                   {"held out"},
                   {"worst"},
                   {"at", TextTable::Align::left}});
  for (const FittedModel& model : calibration.models) {
    if (model.rows.empty()) continue;
    const auto held_out = model.held_out_median_error();
    const FittedRow* const worst = worst_of(model);
    table.add({model.name, std::to_string(model.rows.size()), fmt::format("{:.1f}%", 100 * model.median_error()),
               held_out ? fmt::format("{:.1f}%", 100 * *held_out) : "-", signed_percent(error_of(*worst)),
               worst->place});
  }
  return table.text();
}

std::string constants_text(const Calibration& calibration) {
  TextTable table({{"constant", TextTable::Align::left},
                   {"value", TextTable::Align::left},
                   {"95 % interval", TextTable::Align::left}});
  for (const FittedModel& model : calibration.models) {
    for (const ProfileConstant& c : model.constants) {
      const bool told = c.estimate.identified;
      table.add({c.key, told || c.always ? constant_text(c.unit, c.estimate.value) : "-",
                 told ? constant_text(c.unit, c.estimate.low) + " to " + constant_text(c.unit, c.estimate.high)
                      : "not told: " + c.estimate.why});
    }
  }
  return table.text();
}

std::string worst_rows_text(const Calibration& calibration) {
  std::vector<const FittedRow*> rows;
  for (const FittedModel& model : calibration.models)
    for (const FittedRow& row : model.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater{}, [](const FittedRow* r) { return std::abs(error_of(*r)); });
  rows.resize(std::min(rows.size(), kWorstRows));
  TextTable table({{"worst rows", TextTable::Align::left},
                   {"measured (us)"},
                   {"predicted (us)"},
                   {"error"},
                   {"at", TextTable::Align::left}});
  for (const FittedRow* row : rows) {
    table.add({row->what, microseconds_text(row->measured_s), microseconds_text(row->predicted_s),
               signed_percent(error_of(*row)), row->place});
  }
  return table.text();
}

ordered_json number_or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json constant_json(const ProfileConstant& c) {
  constexpr const char* kUnits[] = {"", "s", "B/s", "B", ""};
  const bool told = c.estimate.identified;
  return {{"key", c.key},
          {"unit", kUnits[static_cast<std::size_t>(c.unit)]},
          {"value", told || c.always ? ordered_json(c.estimate.value) : ordered_json()},
          {"low", told ? ordered_json(c.estimate.low) : ordered_json()},
          {"high", told ? ordered_json(c.estimate.high) : ordered_json()},
          {"identified", told},
          {"why_not", told ? ordered_json() : ordered_json(c.estimate.why)}};
}

}  // namespace

std::string calibration_table(const Calibration& calibration) {
  const calibrate::MeasuredMachine& m = calibration.machine;
  std::string out = fmt::format("{} as {}, {} {}, run {}, {}\ndriver {}, CUDA {}, cuBLASLt {}, NCCL {}\n\n", m.gpu_name,
                                calibration.gpu_file, m.gpus, m.gpus == 1 ? "GPU" : "GPUs", calibration.run, m.date,
                                m.driver, m.cuda, m.cublaslt, m.nccl);
  out += models_text(calibration) + "\n" + constants_text(calibration) + "\n" + worst_rows_text(calibration);
  std::string notes;
  for (const FittedModel& model : calibration.models)
    for (const std::string& note : model.notes) notes += fmt::format("{}: {}\n", model.name, note);
  if (!notes.empty()) out += "\n" + notes;
  if (!calibration.step_tables.empty()) {
    out += "\ntraining steps to compare with (stepcast validate ... --profile):\n";
    for (const std::string& table : calibration.step_tables) out += "  " + table + "\n";
  }
  return language::visible_lines(out);
}

std::string calibration_json(const Calibration& calibration) {
  const calibrate::MeasuredMachine& m = calibration.machine;
  ordered_json models = ordered_json::array(), rows = ordered_json::array();
  for (const FittedModel& model : calibration.models) {
    ordered_json constants = ordered_json::array();
    for (const ProfileConstant& c : model.constants) constants.push_back(constant_json(c));
    models.push_back(
        {{"model", model.name},
         {"rows", model.rows.size()},
         {"median_absolute_error", model.rows.empty() ? ordered_json() : ordered_json(model.median_error())},
         {"held_out_median_absolute_error", number_or_null(model.held_out_median_error())},
         {"constants", std::move(constants)},
         {"notes", model.notes}});
    for (const FittedRow& row : model.rows) {
      rows.push_back({{"model", model.name},
                      {"place", row.place},
                      {"what", row.what},
                      {"measured_s", row.measured_s},
                      {"predicted_s", row.predicted_s},
                      {"held_out_s", number_or_null(row.held_out_s)},
                      {"error", error_of(row)}});
    }
  }
  const ordered_json out{{"bundle", calibration.bundle}, {"run", calibration.run}, {"gpu", calibration.gpu_file},
                         {"gpu_name", m.gpu_name},       {"gpu_id", m.gpu_id},     {"models", std::move(models)},
                         {"rows", std::move(rows)}};
  return json_text(out);
}

std::string calibration_csv(const Calibration& calibration) {
  std::string out = csv_line({"model", "place", "what", "measured_s", "predicted_s", "held_out_s", "error"});
  for (const FittedModel& model : calibration.models) {
    for (const FittedRow& row : model.rows) {
      out += csv_line({model.name, row.place, row.what, fmt::format("{:.6e}", row.measured_s),
                       fmt::format("{:.6e}", row.predicted_s),
                       row.held_out_s ? fmt::format("{:.6e}", *row.held_out_s) : "",
                       fmt::format("{:.6f}", error_of(row))});
    }
  }
  return out;
}

}  // namespace stepcast::app
