#include "calibrate/fit/fitted_model.h"

namespace stepcast::calibrate {

double FittedModel::median_error() const {
  std::vector<double> errors;
  for (const FittedRow& row : rows) errors.push_back(row.predicted_s / row.measured_s - 1);
  return median_absolute(errors);
}

std::optional<double> FittedModel::held_out_median_error() const {
  std::vector<double> errors;
  for (const FittedRow& row : rows)
    if (row.held_out_s) errors.push_back(*row.held_out_s / row.measured_s - 1);
  if (errors.empty()) return {};
  return median_absolute(errors);
}

void take(const RobustFit& fit, FittedModel& model) {
  for (std::size_t i = 0; i < fit.constants.size(); ++i) model.constants[i].estimate = fit.constants[i];
  for (std::size_t i = 0; i < fit.errors.size(); ++i) {
    FittedRow& row = model.rows[i];
    row.predicted_s = row.measured_s * (1 + fit.errors[i]);
    row.held_out_s = row.measured_s * (1 + fit.held_out[i]);
  }
}

}  // namespace stepcast::calibrate
