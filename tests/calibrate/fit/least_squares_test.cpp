#include "calibrate/fit/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepcast::calibrate {
namespace {

/// A line through points: y = a + b t.
LeastSquares line_through(const std::vector<double>& t, const std::vector<double>& y, bool central) {
  LeastSquares problem;
  problem.residuals = static_cast<Eigen::Index>(t.size());
  problem.at = [=](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    for (std::size_t i = 0; i < t.size(); ++i) out[static_cast<Eigen::Index>(i)] = x[0] + x[1] * t[i] - y[i];
  };
  problem.central = central;
  return problem;
}

TEST(LeastSquares, FindsALineAndItsSpread) {
  for (const bool central : {false, true}) {
    const LeastSquares problem = line_through({0, 1, 2, 3}, {1, 3, 5, 8}, central);
    const Minimum end = minimize(problem, Eigen::Vector2d(0, 0));
    EXPECT_NEAR(end.x[0], 0.8, 1e-6);  // by the normal equations
    EXPECT_NEAR(end.x[1], 2.3, 1e-6);
    EXPECT_NEAR(end.squares, 0.3, 1e-6);
    const Eigen::VectorXd diagonal = inverse_diagonal(problem.slopes(end.x));
    EXPECT_NEAR(diagonal[0], 0.7, 1e-5);  // sum t^2 / (n sum t^2 - (sum t)^2) = 14 / 20
    EXPECT_NEAR(diagonal[1], 0.2, 1e-5);  // n / 20
  }
}

TEST(LeastSquares, OfTwoThatMakeUpForEachOtherOneIsGivenUp) {
  Eigen::MatrixXd slopes(3, 3);
  slopes << 1, 1, 0, 2, 2, 0, 0, 0, 1;  // the first two columns are the same
  std::vector<std::size_t> given_up;
  Intervals intervals;
  intervals.half_widths = [](const Eigen::MatrixXd& of) -> Eigen::VectorXd { return inverse_diagonal(of).cwiseSqrt(); };
  intervals.covers = [](std::size_t, double half) { return half / 2; };
  intervals.give_up = [&](std::size_t unknown) { given_up.push_back(unknown); };
  give_up_untold(slopes, {0, 1, 2}, intervals);
  ASSERT_EQ(given_up.size(), 1u);
  EXPECT_LT(given_up[0], 2u);
}

// Least at 2, with a dent at -3, where the fit starts.
TEST(LeastSquares, LookingWidelyLeavesAMinimumThatIsOnlyNear) {
  LeastSquares squares;
  squares.residuals = 1;
  squares.at = [](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    out[0] = x[0] < -1 ? 1 + (x[0] + 3) * (x[0] + 3) : std::abs(x[0] - 2);
  };
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(1, -3.2);
  EXPECT_NEAR(minimize(squares, start).x[0], -3, 0.05);
  const std::vector<double> values = {-5, 0, 1.5, 5};
  const Minimum wide = minimize_widely(squares, start, values, 2);
  EXPECT_NEAR(wide.x[0], 2, 0.05);
  EXPECT_NEAR(wide.squares, 0, 0.01);
}

TEST(LeastSquares, LookingWidelyStopsWhereNothingIsGained) {
  int evaluations = 0;
  LeastSquares squares;
  squares.residuals = 1;
  squares.at = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    ++evaluations;
    out[0] = x[0] - 1;
  };
  const std::vector<double> values = {-5, 0, 5};
  const Minimum found = minimize_widely(squares, Eigen::VectorXd::Constant(1, 0.0), values, 100);
  EXPECT_NEAR(found.x[0], 1, 1e-6);
  EXPECT_LT(evaluations, 60);
}

}  // namespace
}  // namespace stepcast::calibrate
