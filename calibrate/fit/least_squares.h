#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace stepcast::calibrate {

/// Unknowns x whose residuals' squares shall sum to little.
struct LeastSquares {
  Eigen::Index residuals = 0;
  std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& residuals)> at;  ///< fills all of them
  bool central = false;  ///< slopes by central differences, else forward ones
  double precision = 0;  ///< relative, of the residuals: differences step by its square root
  int most_evaluations = 400;
  double tolerance = 1e-8;  ///< relative, of the sum and of x: where to stop

  /// d residual / d x, by differences.
  Eigen::MatrixXd slopes(const Eigen::VectorXd& x) const;
};

struct Minimum {
  Eigen::VectorXd x;
  double squares = std::numeric_limits<double>::infinity();  ///< sum of the residuals' squares
};

/// Levenberg and Marquardt (Eigen's port of MINPACK) from `start`.
Minimum minimize(const LeastSquares& problem, const Eigen::VectorXd& start);

/// The same, and from there each unknown in turn at each of `values`, the best of which is kept where the sum falls by
/// more than a thousandth; then anew from what was found, until no unknown moves (at most `rounds` times): out of
/// minima that are only near the start. Takes as many evaluations a round as there are unknowns times values, besides.
Minimum minimize_widely(const LeastSquares& problem, const Eigen::VectorXd& start, std::span<const double> values,
                        int rounds);

/// The diagonal of (J^T J)^-1: what the squares of intervals are multiples of. Very large where other unknowns can make
/// up for one.
Eigen::VectorXd inverse_diagonal(const Eigen::MatrixXd& slopes);

/// What told_unknowns() asks, and tells.
struct Intervals {
  std::function<Eigen::VectorXd(const Eigen::MatrixXd& slopes)>
      half_widths;                                                       ///< of the unknowns whose columns these are
  std::function<double(std::size_t unknown, double half_width)> covers;  ///< above 1: the interval says nothing
  std::function<void(std::size_t unknown)> give_up;
};
/// Of the unknowns `told` (columns of `slopes`) gives up, one after the other, the one whose interval covers most,
/// until all that are left say something: where two make up for each other, the samples may tell one of them once the
/// other is given.
void give_up_untold(const Eigen::MatrixXd& slopes, std::vector<std::size_t> told, const Intervals& intervals);

}  // namespace stepcast::calibrate
