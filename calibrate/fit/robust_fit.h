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
  /// What is known of it beforehand: it is near `start`, with this standard deviation, of its logarithm where that is
  /// what steps are of. 0: the bounds alone.
  double width = 0;
  std::vector<double> tried{};  ///< values that a fit tries first, the other constants being where they are
  bool whole = false;           ///< takes none but those: a count, a choice
  /// A cause that nothing was known to have, at `start`: it stays there unless it is worth having.
  bool added = false;
};

/// How an error counts that is beyond the scatter.
enum class Beyond {
  linear,     ///< Huber: many such errors still pull
  logarithm,  ///< Cauchy: they hardly do, whatever their size; where some samples were taken under other conditions
  /// Cauchy where a sample took longer than predicted, Huber where it took less: what nobody knows of may hold a run
  /// up, and nothing makes it faster.
  logarithm_if_held_up,
};

/// What a robust fit expects of errors: of log(predicted / measured).
struct Scatter {
  double size = 0.05;
  Beyond beyond = Beyond::linear;
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

/// Robust least squares on log time: squares of log(predicted / measured) up to `scatter`, less beyond (Huber, Robust
/// Statistics, 1981, ch. 7), and of what each constant is away from what was known of it, by Levenberg and Marquardt
/// (Eigen) on the logit of where each constant lies between its bounds. `starts` are places to start from besides the
/// constants' own; of a constant that one puts elsewhere no value is tried first there. The best end is kept.
/// Intervals: Student's t times the square root of Huber's covariance (eq. 7.6.6), with what was known. A constant that
/// no sample feels, or whose interval covers most of its bounds (logarithmic: a factor of `told_within`; where its
/// `width` is known: is hardly smaller than without the samples, which put it within that width), is not identified: it
/// keeps its start and the others are fitted again without it. A choice (`whole`) leaves its start for what makes the
/// sum of |predicted / measured - 1| less, also without the tenth of the samples that say so most and took longer than
/// predicted; it is made again once the other constants are fitted. A cause that is `added` must make the squares less
/// by twice that of a usual error (Akaike, "A new look at the statistical model identification", 1974), and be told
/// without the samples of the group that tells most of it too: else a run that was held up makes a cause of its own.
/// With fewer samples than constants of no known width and two more, none of these is. Held out errors: 5 folds, whole
/// `groups` in each (one number a sample: those of one shape stay together), dealt in order of first appearance; what
/// the other folds do not tell is at its start. Deterministic. Samples x constants predictions for each of some ten
/// iterations and each start.
RobustFit fit_robust(std::span<const double> measured, std::span<const std::size_t> groups,
                     std::span<const Free> constants, const PredictSample& predict,
                     std::span<const std::vector<double>> starts = {}, Scatter scatter = {});

/// Median of the absolute values; 0 of none.
double median_absolute(std::span<const double> errors);

}  // namespace stepcast::calibrate
