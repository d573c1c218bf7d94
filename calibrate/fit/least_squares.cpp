#include "calibrate/fit/least_squares.h"

#include <algorithm>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace stepcast::calibrate {
namespace {

/// As Eigen's solvers call residuals.
struct Functor {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const LeastSquares* problem;
  Eigen::Index unknowns;

  int inputs() const { return static_cast<int>(unknowns); }
  int values() const { return static_cast<int>(problem->residuals); }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    problem->at(x, out);
    return 0;
  }
};

template <Eigen::NumericalDiffMode mode>
Minimum minimize_by(const LeastSquares& problem, const Eigen::VectorXd& start) {
  Eigen::NumericalDiff<Functor, mode> slopes(Functor{&problem, start.size()}, problem.precision);
  Eigen::LevenbergMarquardt<decltype(slopes)> solver(slopes);
  solver.parameters.maxfev = problem.most_evaluations;
  solver.parameters.ftol = solver.parameters.xtol = problem.tolerance;
  Minimum end{start, 0};
  solver.minimize(end.x);
  end.squares = solver.fvec.squaredNorm();
  return end;
}

template <Eigen::NumericalDiffMode mode>
Eigen::MatrixXd slopes_by(const LeastSquares& problem, const Eigen::VectorXd& x) {
  const Eigen::NumericalDiff<Functor, mode> slopes(Functor{&problem, x.size()}, problem.precision);
  Eigen::MatrixXd out(problem.residuals, x.size());
  slopes.df(x, out);
  return out;
}

}  // namespace

Eigen::MatrixXd LeastSquares::slopes(const Eigen::VectorXd& x) const {
  return central ? slopes_by<Eigen::Central>(*this, x) : slopes_by<Eigen::Forward>(*this, x);
}

Minimum minimize(const LeastSquares& problem, const Eigen::VectorXd& start) {
  return problem.central ? minimize_by<Eigen::Central>(problem, start) : minimize_by<Eigen::Forward>(problem, start);
}

Minimum minimize_widely(const LeastSquares& problem, const Eigen::VectorXd& start, std::span<const double> values,
                        int rounds) {
  constexpr double kWorth = 1 - 1e-3;
  Minimum best = minimize(problem, start);
  Eigen::VectorXd out(problem.residuals);
  for (int round = 0; round < rounds; ++round) {
    Minimum moved = best;
    for (Eigen::Index i = 0; i < start.size(); ++i) {
      Minimum tried = moved;
      for (const double value : values) {
        tried.x[i] = value;
        problem.at(tried.x, out);
        tried.squares = out.squaredNorm();
        if (tried.squares < moved.squares * kWorth) moved = tried;
      }
    }
    if (moved.squares == best.squares) break;
    const Minimum further = minimize(problem, moved.x);
    best = further.squares < moved.squares ? further : moved;
  }
  return best;
}

Eigen::VectorXd inverse_diagonal(const Eigen::MatrixXd& slopes) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(slopes.transpose() * slopes);
  const double least = std::max(solver.eigenvalues().maxCoeff(), 1e-300) * 1e-12;
  Eigen::VectorXd out(slopes.cols());
  for (Eigen::Index i = 0; i < slopes.cols(); ++i) {
    double sum = 0;
    for (Eigen::Index k = 0; k < slopes.cols(); ++k) {
      const double component = solver.eigenvectors()(i, k);
      sum += component * component / std::max(solver.eigenvalues()[k], least);
    }
    out[i] = sum;
  }
  return out;
}

void give_up_untold(const Eigen::MatrixXd& slopes, std::vector<std::size_t> told, const Intervals& intervals) {
  while (!told.empty()) {
    Eigen::MatrixXd columns(slopes.rows(), static_cast<Eigen::Index>(told.size()));
    for (std::size_t k = 0; k < told.size(); ++k)
      columns.col(static_cast<Eigen::Index>(k)) = slopes.col(static_cast<Eigen::Index>(told[k]));
    const Eigen::VectorXd halves = intervals.half_widths(columns);
    std::size_t worst = 0;
    double most = 0;
    for (std::size_t k = 0; k < told.size(); ++k) {
      const double share = intervals.covers(told[k], halves[static_cast<Eigen::Index>(k)]);
      if (share > most) {
        most = share;
        worst = k;
      }
    }
    if (most <= 1) break;
    intervals.give_up(told[worst]);
    told.erase(told.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

}  // namespace stepcast::calibrate
