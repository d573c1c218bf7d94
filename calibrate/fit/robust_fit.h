#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace stepcast::calibrate {

/// A constant that a fit may move, in the model's own unit.
struct Free {
  std::string name;
  double low = 0, high = 1;  ///< open bounds
  double start = 0.5;        ///< between them: where the fit starts, and what stays where it cannot be told
  bool logarithmic = false;  ///< spans decades (rates): steps and intervals are ratios
  double told_within = 4;    ///< logarithmic: the ends of an interval that tells it are within this ratio
};

/// What a fit made of a constant.
struct Estimate {
  std::string name;
  double value = 0;
  double low = 0, high = 0;  ///< 95 % confidence interval, within the bounds; {value, value} where not identified
  bool identified = false;
  std::string why;  ///< where not identified
};

struct RobustFit {
  std::vector<Estimate> constants;  ///< in the order asked for
  std::vector<double> errors;       ///< predicted / measured - 1 of each sample
  std::vector<double> held_out;     ///< the same, by a fit of the folds that the sample is not in

  std::vector<double> values() const;
};

/// Predicted seconds of sample i under these constants; above 0. A pure function.
using PredictSample = std::function<double(const std::vector<double>& constants, std::size_t i)>;

/// Robust least squares on log time: squares of log(predicted / measured) up to `scatter`, linear beyond (Huber, Robust
/// Statistics, 1981, ch. 7), by Levenberg and Marquardt (Eigen) on the logit of where each constant lies between its
/// bounds. `starts` are places to start from besides the constants' own; the best end is kept. Intervals: Student's t
/// times the square root of Huber's covariance (eq. 7.6.6). A constant that no sample feels, or whose interval covers
/// most of its bounds (logarithmic: a factor of `told_within`), is not identified: it keeps its start and the others
/// are fitted again without it. With fewer samples than constants and two more, none is. Held out errors: 5 folds,
/// whole `groups` in each (one number a sample: those of one shape stay together), dealt in order of first appearance.
/// Deterministic. Samples x constants predictions for each of some ten iterations and each start.
RobustFit fit_robust(std::span<const double> measured, std::span<const std::size_t> groups,
                     std::span<const Free> constants, const PredictSample& predict,
                     std::span<const std::vector<double>> starts = {}, double scatter = 0.05);

/// Median of the absolute values; 0 of none.
double median_absolute(std::span<const double> errors);

}  // namespace stepcast::calibrate
