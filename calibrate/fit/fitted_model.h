#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/fit/robust_fit.h"

namespace stepcast::calibrate {

enum class ConstantUnit : std::uint8_t { number, seconds, bytes_per_second, bytes, whole, flag };

/// A constant of a profile: its key there ("gpu.memory.efficiency") and what was found.
struct ProfileConstant {
  std::string key;
  ConstantUnit unit = ConstantUnit::number;
  Estimate estimate;
  bool always = false;  ///< written even where it was not identified: it belongs to a model that is replaced whole
};

/// One measurement beside the fitted model.
struct FittedRow {
  std::string place;  ///< "kernels.csv:12"
  std::string what;   ///< "matmul TN 4096 x 4096 x 4096"
  double measured_s = 0, predicted_s = 0;
  std::optional<double> held_out_s{};  ///< predicted by a fit that did not see it
};

/// One model of the machine, fitted: constants, and the rows that they were fitted to.
struct FittedModel {
  std::string name;  ///< "gemm bf16"
  std::vector<ProfileConstant> constants;
  std::vector<FittedRow> rows;
  std::vector<std::string> notes;  ///< measurements that were left out, and why

  /// Medians of |predicted / measured - 1|.
  double median_error() const;
  std::optional<double> held_out_median_error() const;  ///< nothing where no row was held out
};

/// Hands what a fit found to a model whose rows are the samples, and whose constants have their keys already.
void take(const RobustFit& fit, FittedModel& model);

}  // namespace stepcast::calibrate
