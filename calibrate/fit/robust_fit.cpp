#include "calibrate/fit/robust_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "calibrate/fit/least_squares.h"

namespace stepcast::calibrate {
namespace {

constexpr double kUninformed = 0.8;  // an interval that covers more of the bounds says nothing
constexpr double kFelt = 1e-4;       // columns below this are of constants that no sample feels
constexpr double kStep = 1e-3;       // of the bounds: for the slopes that intervals come from
constexpr std::size_t kFolds = 5;
constexpr double kEdge = 1e-9;

double to_place(const Free& c, double value) {
  const double share =
      c.logarithmic ? std::log(value / c.low) / std::log(c.high / c.low) : (value - c.low) / (c.high - c.low);
  return std::clamp(share, kEdge, 1 - kEdge);
}

double at_place(const Free& c, double place) {
  return c.logarithmic ? c.low * std::pow(c.high / c.low, place) : c.low + (c.high - c.low) * place;
}

double logit(double place) { return std::log(place / (1 - place)); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The part of a fit that moves: some constants, some samples.
struct Problem {
  std::span<const double> measured;
  std::span<const Free> constants;
  const PredictSample* predict = nullptr;
  double scatter = 0;  ///< errors beyond it count linearly, so odd samples do not drag the rest
  std::vector<std::size_t> samples, moving;
  std::vector<double> values;  ///< of all constants; the others stay

  double error(const std::vector<double>& at, std::size_t sample) const {
    return std::log((*predict)(at, sample) / measured[sample]);
  }
  std::vector<double> at_places(const Eigen::VectorXd& places) const {
    std::vector<double> at = values;
    for (std::size_t i = 0; i < moving.size(); ++i)
      at[moving[i]] = at_place(constants[moving[i]], places[static_cast<Eigen::Index>(i)]);
    return at;
  }
  Eigen::VectorXd places(const std::vector<double>& at) const {
    Eigen::VectorXd out(static_cast<Eigen::Index>(moving.size()));
    for (std::size_t i = 0; i < moving.size(); ++i)
      out[static_cast<Eigen::Index>(i)] = to_place(constants[moving[i]], at[moving[i]]);
    return out;
  }
  /// d error / d place, by central differences, one-sided at the edges.
  Eigen::MatrixXd slopes(const std::vector<double>& at) const {
    Eigen::MatrixXd out(static_cast<Eigen::Index>(samples.size()), static_cast<Eigen::Index>(moving.size()));
    const Eigen::VectorXd here = places(at);
    for (Eigen::Index k = 0; k < out.cols(); ++k) {
      Eigen::VectorXd up = here, down = here;
      up[k] = std::min(here[k] + kStep, 1 - kEdge);
      down[k] = std::max(here[k] - kStep, kEdge);
      const std::vector<double> above = at_places(up), below = at_places(down);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        out(static_cast<Eigen::Index>(i), k) =
            (error(above, samples[i]) - error(below, samples[i])) / (up[k] - down[k]);
      }
    }
    return out;
  }
};

/// The best end of all starts, all constants.
std::vector<double> minimized(const Problem& problem, std::span<const std::vector<double>> starts) {
  LeastSquares squares;
  squares.residuals = static_cast<Eigen::Index>(problem.samples.size());
  squares.at = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    const std::vector<double> at = problem.at_places(x.unaryExpr(&logistic));
    for (std::size_t i = 0; i < problem.samples.size(); ++i) {
      const double error = problem.error(at, problem.samples[i]), size = std::abs(error);
      const double scatter = problem.scatter;
      const double cost = size <= scatter ? size * size : 2 * scatter * size - scatter * scatter;
      out[static_cast<Eigen::Index>(i)] = std::copysign(std::sqrt(cost), error);
    }
  };
  squares.central = true;
  squares.precision = 1e-4;
  squares.most_evaluations = 4000;
  squares.tolerance = std::sqrt(std::numeric_limits<double>::epsilon());
  Minimum best;
  for (const std::vector<double>& start : starts) {
    Minimum end = minimize(squares, problem.places(start).unaryExpr(&logit));
    if (end.squares < best.squares) best = std::move(end);
  }
  return best.x.size() == 0 ? problem.values : problem.at_places(best.x.unaryExpr(&logistic));
}

/// 95 % half-widths of the places that move; infinite where others can make up for one.
Eigen::VectorXd half_widths(const Problem& problem, const std::vector<double>& at, const Eigen::MatrixXd& slopes) {
  const auto samples = static_cast<double>(slopes.rows()), constants = static_cast<double>(slopes.cols());
  double squares = 0, inside = 0;
  for (const std::size_t sample : problem.samples) {
    const double error = problem.error(at, sample);
    squares += std::min(error * error, problem.scatter * problem.scatter);
    inside += std::abs(error) <= problem.scatter ? 1 : 0;
  }
  const double share = std::max(inside / samples, 1e-3);
  const double correction = 1 + constants / samples * (1 - share) / share;
  const double variance = correction * correction * squares / (samples - constants) / (share * share);
  const double width = boost::math::quantile(boost::math::students_t(samples - constants), 0.975);
  return width * (variance * inverse_diagonal(slopes)).cwiseSqrt();
}

/// How much of what may be an interval covers: 1 where it says nothing.
double uninformed(const Free& c, double place, double half) {
  const double low = std::max(place - half, 0.0), high = std::min(place + half, 1.0);
  if (c.logarithmic) return (high - low) * std::log(c.high / c.low) / std::log(c.told_within);
  return (high - low) / kUninformed;
}

}  // namespace

std::vector<double> RobustFit::values() const {
  std::vector<double> out;
  for (const Estimate& estimate : constants) out.push_back(estimate.value);
  return out;
}

double median_absolute(std::span<const double> errors) {
  if (errors.empty()) return 0;
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  std::ranges::sort(sizes);
  const std::size_t half = sizes.size() / 2;
  return sizes.size() % 2 == 1 ? sizes[half] : (sizes[half - 1] + sizes[half]) / 2;
}

RobustFit fit_robust(std::span<const double> measured, std::span<const std::size_t> groups,
                     std::span<const Free> constants, const PredictSample& predict,
                     std::span<const std::vector<double>> starts, double scatter) {
  Problem problem{measured, constants, &predict, scatter, {}, {}, {}};
  RobustFit fit;
  for (const Free& c : constants) {
    fit.constants.push_back({c.name, c.start, c.start, c.start, true, ""});
    problem.values.push_back(c.start);
  }
  problem.samples.resize(measured.size());
  std::iota(problem.samples.begin(), problem.samples.end(), std::size_t{0});
  const auto drop = [&](std::size_t constant, const std::string& why) {
    Estimate& estimate = fit.constants[constant];
    estimate = {
        estimate.name, constants[constant].start, constants[constant].start, constants[constant].start, false, why};
    problem.values[constant] = constants[constant].start;
  };
  if (measured.size() < constants.size() + 2) {
    for (std::size_t i = 0; i < constants.size(); ++i) {
      drop(i, measured.empty()
                  ? "nothing was measured that depends on it"
                  : "only " + std::to_string(measured.size()) +
                        (measured.size() == 1 ? " measurement depends on it" : " measurements depend on it"));
    }
  }
  // Fit, leave out what the samples do not tell, and fit the rest again, until they tell all that is left.
  for (bool again = true; again;) {
    again = false;
    problem.moving.clear();
    for (std::size_t i = 0; i < constants.size(); ++i)
      if (fit.constants[i].identified) problem.moving.push_back(i);
    if (problem.moving.empty()) break;
    std::vector<std::vector<double>> from{problem.values};
    from.insert(from.end(), starts.begin(), starts.end());
    problem.values = minimized(problem, from);
    const Eigen::MatrixXd slopes = problem.slopes(problem.values);
    const Eigen::VectorXd places = problem.places(problem.values);
    std::vector<std::size_t> felt;
    for (std::size_t k = 0; k < problem.moving.size(); ++k) {
      if (slopes.col(static_cast<Eigen::Index>(k)).norm() > kFelt) {
        felt.push_back(k);
      } else {
        drop(problem.moving[k], "no measurement depends on it");
        again = true;
      }
    }
    Intervals intervals;
    intervals.half_widths = [&](const Eigen::MatrixXd& of) { return half_widths(problem, problem.values, of); };
    intervals.covers = [&](std::size_t k, double half) {
      const std::size_t constant = problem.moving[k];
      const double place = places[static_cast<Eigen::Index>(k)];
      Estimate& estimate = fit.constants[constant];
      estimate.value = problem.values[constant];
      estimate.low = at_place(constants[constant], std::max(place - half, 0.0));
      estimate.high = at_place(constants[constant], std::min(place + half, 1.0));
      return uninformed(constants[constant], place, half);
    };
    intervals.give_up = [&](std::size_t k) {
      const std::size_t constant = problem.moving[k];
      drop(constant, constants[constant].logarithmic ? "its interval spans a factor of more than " +
                                                           std::to_string(std::lround(constants[constant].told_within))
                                                     : "its interval covers most of its bounds");
      again = true;
    };
    give_up_untold(slopes, felt, intervals);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) fit.errors.push_back(std::expm1(problem.error(problem.values, i)));

  std::map<std::size_t, std::size_t> order;
  for (const std::size_t group : groups) order.try_emplace(group, order.size());
  fit.held_out.resize(measured.size());
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Problem rest = problem;
    rest.samples.clear();
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (order.at(groups[i]) % kFolds != fold) rest.samples.push_back(i);
    if (!rest.moving.empty() && rest.samples.size() > rest.moving.size())
      rest.values = minimized(rest, std::vector<std::vector<double>>{problem.values});
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (order.at(groups[i]) % kFolds == fold) fit.held_out[i] = std::expm1(rest.error(rest.values, i));
  }
  return fit;
}

}  // namespace stepcast::calibrate
