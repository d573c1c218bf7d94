#pragma once

#include <string>
#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/fitted_model.h"

namespace stepcast::app {

/// A bundle fitted: what the reports and the profile are written from.
struct Calibration {
  std::string bundle;    ///< as messages and the profile call it
  std::string gpu_file;  ///< of configs/gpus/
  std::string run;
  calibrate::MeasuredMachine machine;
  std::vector<calibrate::FittedModel> models;
  std::vector<std::string> step_tables;
};

/// "0.9123", "1.2034 us", "55.21 GB/s": as a file of configs/ has it.
std::string constant_text(calibrate::ConstantUnit unit, double value);

/// The profile as YAML: provenance, the constants with their intervals, what could not be told as comments.
std::string profile_yaml(const Calibration& calibration);

/// Models with their errors, constants with their intervals, the worst rows.
std::string calibration_table(const Calibration& calibration);
std::string calibration_json(const Calibration& calibration);
/// Every measurement beside what the fit predicts.
std::string calibration_csv(const Calibration& calibration);

/// predicted / measured - 1 over measured time, a colour for each model, as an SVG page.
std::string residuals_svg(const Calibration& calibration);

}  // namespace stepcast::app
