#include "calibrate/fit/robust_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "calibrate/fit/least_squares.h"

namespace stepcast::calibrate {
namespace {

constexpr double kUninformed = 0.8;  // an interval that covers more of the bounds, or of what was known, says nothing
constexpr double kFelt = 1e-4;       // columns below this are of constants that no sample feels
constexpr double kStep = 1e-3;       // of the bounds: for the slopes that intervals come from
constexpr std::size_t kFolds = 5;
constexpr double kEdge = 1e-9;
constexpr double kWorth = 2;      // squares of usual errors that an added cause takes away at least (Akaike 1974)
constexpr double kNormal = 1.96;  // 95 % of a normal distribution are within so many standard deviations

double to_place(const Free& c, double value) {
  const double share =
      c.logarithmic ? std::log(value / c.low) / std::log(c.high / c.low) : (value - c.low) / (c.high - c.low);
  return std::clamp(share, kEdge, 1 - kEdge);
}

double at_place(const Free& c, double place) {
  return c.logarithmic ? c.low * std::pow(c.high / c.low, place) : c.low + (c.high - c.low) * place;
}

/// A standard deviation of the constant itself, or of its logarithm, as one of its place; 0: not known.
double width_of_place(const Free& c) { return c.width / (c.logarithmic ? std::log(c.high / c.low) : c.high - c.low); }

double logit(double place) { return std::log(place / (1 - place)); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The part of a fit that moves: some constants, some samples.
struct Problem {
  std::span<const double> measured;
  std::span<const Free> constants;
  const PredictSample* predict = nullptr;
  Scatter scatter{};
  double error_size = 0;  ///< of a usual sample: what it tells beside what is known
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
  bool hardly_pulls(double error) const {
    return scatter.beyond == Beyond::logarithm || (scatter.beyond == Beyond::logarithm_if_held_up && error < 0);
  }
  /// Whose sum of squares is to be small: of the samples, then of what is known of the constants that move.
  double residual(double error) const {
    const double size = std::abs(error), s = scatter.size;
    if (hardly_pulls(error)) return std::copysign(s * std::sqrt(std::log1p(error * error / (s * s))), error);
    return std::copysign(std::sqrt(size <= s ? size * size : 2 * s * size - s * s), error);
  }
  /// The first and second derivative of half the residual's square by the error.
  double pull(double error) const {
    const double s = scatter.size;
    if (hardly_pulls(error)) return error / (1 + error * error / (s * s));
    return std::clamp(error, -s, s);
  }
  double stiffness(double error) const {
    const double s = scatter.size, square = error * error / (s * s);
    if (hardly_pulls(error)) return (1 - square) / ((1 + square) * (1 + square));
    return square <= 1 ? 1 : 0;
  }
  /// By how many standard deviations a constant is off what is known of it; 0 where nothing is.
  double off_known(const std::vector<double>& at, std::size_t constant) const {
    const Free& c = constants[constant];
    return c.width == 0 ? 0 : (to_place(c, at[constant]) - to_place(c, c.start)) / width_of_place(c);
  }
  /// Far off it counts by its logarithm: what was thought to be known may be wrong.
  double known(const std::vector<double>& at, std::size_t constant) const {
    const double off = off_known(at, constant);
    return error_size * std::copysign(std::sqrt(std::log1p(off * off)), off);
  }
  void residuals(const std::vector<double>& at, Eigen::VectorXd& out) const {
    Eigen::Index row = 0;
    for (const std::size_t sample : samples) out[row++] = residual(error(at, sample));
    if (some_known())
      for (const std::size_t constant : moving) out[row++] = known(at, constant);
  }
  bool some_known() const {
    return std::ranges::any_of(constants, [](const Free& c) { return c.width > 0; });
  }
  Eigen::Index rows() const { return static_cast<Eigen::Index>(samples.size() + (some_known() ? moving.size() : 0)); }
  double squares(const std::vector<double>& at) const {
    Eigen::VectorXd all(rows());
    residuals(at, all);
    return all.squaredNorm();
  }
  /// predicted / measured - 1 of each sample: a forecast ten times too slow counts ten times as much as one ten times
  /// too fast.
  std::vector<double> relative(const std::vector<double>& at) const {
    std::vector<double> errors;
    for (const std::size_t sample : samples) errors.push_back(std::expm1(error(at, sample)));
    return errors;
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

/// Whether errors are less in sum, also without the tenth of the samples, at least one, that took longest beside what
/// was predicted of them: so many may have been held up.
bool better(std::span<const double> errors, std::span<const double> than) {
  double less = 0;
  std::vector<double> of_held_up;  // what is gained of samples that took longer than predicted
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double gain = std::abs(than[i]) - std::abs(errors[i]);
    less += gain;
    if (than[i] < 0 && gain > 0) of_held_up.push_back(gain);
  }
  std::ranges::sort(of_held_up, std::ranges::greater{});
  const std::size_t held_up = std::min((errors.size() + 9) / 10, of_held_up.size());
  for (std::size_t i = 0; i < held_up; ++i) less -= of_held_up[i];
  return less > 0;
}

/// A constant at each of its values to try, the one kept whose cost is `less` than that of all before.
template <typename Cost, typename Less>
void keep_best(const Free& c, std::size_t constant, std::vector<double>& at, const Cost& cost, const Less& less) {
  if (c.tried.empty()) return;
  auto least = cost(at);
  for (const double value : c.tried) {
    std::vector<double> other = at;
    other[constant] = value;
    if (auto costs = cost(other); less(costs, least)) {
      least = std::move(costs);
      at = std::move(other);
    }
  }
}

/// A count or choice is what makes the relative errors least: where it holds for a part of the samples only, it is one
/// that makes none of them far too slow.
void choose(const Problem& problem, std::size_t constant, std::vector<double>& at) {
  keep_best(
      problem.constants[constant], constant, at, [&](const auto& place) { return problem.relative(place); }, better);
}

/// Each constant at each of its values to try, the best kept, the others where they are; twice, for they depend on each
/// other.
std::vector<double> tried(const Problem& problem, std::span<const std::size_t> constants, std::vector<double> at) {
  for (int round = 0; round < 2; ++round)
    for (const std::size_t constant : constants) {
      const Free& c = problem.constants[constant];
      if (c.whole)
        choose(problem, constant, at);
      else
        keep_best(
            c, constant, at, [&](const auto& place) { return problem.squares(place); }, std::less{});
    }
  return at;
}

/// The best end of all starts, all constants.
std::vector<double> minimized(const Problem& problem, std::span<const std::vector<double>> starts) {
  LeastSquares squares;
  squares.residuals = problem.rows();
  squares.central = true;
  squares.precision = 1e-4;
  squares.most_evaluations = 4000;
  squares.tolerance = std::sqrt(std::numeric_limits<double>::epsilon());
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> best = problem.values;
  for (const std::vector<double>& start : starts) {
    Problem from = problem;
    from.values = start;  // what does not move may differ from start to start
    squares.at = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
      from.residuals(from.at_places(x.unaryExpr(&logistic)), out);
    };
    const Minimum end = minimize(squares, from.places(start).unaryExpr(&logit));
    if (end.squares >= least) continue;
    least = end.squares;
    best = from.at_places(end.x.unaryExpr(&logistic));
  }
  return best;
}

/// The problem without one of the constants that move, which is at its start, the others fitted once more.
Problem without(const Problem& problem, std::size_t constant) {
  Problem rest = problem;
  std::erase(rest.moving, constant);
  rest.values[constant] = problem.constants[constant].start;
  if (!rest.moving.empty()) rest.values = minimized(rest, std::vector<std::vector<double>>{rest.values});
  return rest;
}

/// By how many squares of a usual error a constant makes those of the samples, and of what is known of the others, less
/// beside `rest`, the problem without it.
double worth(const Problem& problem, const Problem& rest) {
  Problem same = problem;  // squares of what is known of the constants that `rest` has too
  same.moving = rest.moving;
  return (rest.squares(rest.values) - same.squares(problem.values)) / (problem.error_size * problem.error_size);
}

/// The added cause that is worth least, if one is worth too little.
std::optional<std::size_t> least_worth(const Problem& problem) {
  std::optional<std::size_t> found;
  double least = kWorth;
  for (const std::size_t constant : problem.moving) {
    if (!problem.constants[constant].added) continue;
    const double here = worth(problem, without(problem, constant));
    if (here >= least) continue;
    least = here;
    found = constant;
  }
  return found;
}

/// The standard deviation of what is not odd among the errors: from their median size.
double usual_error(const Problem& problem, const std::vector<double>& at) {
  constexpr double kLeast = 1e-3, kOfMedian = 1.4826;
  std::vector<double> errors;
  for (const std::size_t sample : problem.samples) errors.push_back(problem.error(at, sample));
  const auto samples = static_cast<double>(errors.size()), constants = static_cast<double>(problem.moving.size());
  const double more = std::sqrt(samples / std::max(samples - constants, 1.0));
  return std::clamp(kOfMedian * more * median_absolute(errors), kLeast, problem.scatter.size);
}

/// The variance of errors that intervals come from, where `moved` constants were fitted.
double variance(const Problem& problem, const std::vector<double>& at, std::size_t moved) {
  const auto samples = static_cast<double>(problem.samples.size()), constants = static_cast<double>(moved);
  double squares = 0, stiffness = 0, spread = 0;
  for (const std::size_t sample : problem.samples) {
    const double error = problem.error(at, sample);
    squares += problem.pull(error) * problem.pull(error);
    stiffness += problem.stiffness(error) / samples;
  }
  for (const std::size_t sample : problem.samples)
    spread += std::pow(problem.stiffness(problem.error(at, sample)) - stiffness, 2) / samples;
  stiffness = std::max(stiffness, 1e-3);
  const double correction = 1 + constants / samples * spread / (stiffness * stiffness);
  return correction * correction * squares / std::max(samples - constants, 1.0) / (stiffness * stiffness);
}

/// The slopes of the samples, and below them, in units of the samples' errors, what is known of each constant.
Eigen::MatrixXd with_known(const Problem& problem, const Eigen::MatrixXd& slopes, double error_variance) {
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(slopes.rows() + slopes.cols(), slopes.cols());
  all.topRows(slopes.rows()) = slopes;
  for (Eigen::Index k = 0; k < slopes.cols(); ++k) {
    const std::size_t constant = problem.moving[static_cast<std::size_t>(k)];
    const double width = width_of_place(problem.constants[constant]);
    const double square = std::pow(problem.off_known(problem.values, constant), 2);
    if (width > 0 && square < 1)
      all(slopes.rows() + k, k) = std::sqrt(error_variance * (1 - square)) / (width * (1 + square));
  }
  return all;
}

/// The slopes as they are without the samples of a group.
Eigen::MatrixXd without_group(Eigen::MatrixXd slopes, std::span<const std::size_t> groups, std::size_t group) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i] == group) slopes.row(static_cast<Eigen::Index>(i)).setZero();
  return slopes;
}

/// How much of what may be an interval covers: 1 where it says nothing. That a constant is farther off what was known
/// of it than that is usually off says something, however wide the interval. `off_known`: in standard deviations.
double uninformed(const Free& c, double place, double half, double off_known) {
  if (c.width > 0) return std::abs(off_known) > 1 ? 0 : half / (kUninformed * kNormal * width_of_place(c));
  const double low = std::max(place - half, 0.0), high = std::min(place + half, 1.0);
  if (c.logarithmic) return (high - low) * std::log(c.high / c.low) / std::log(c.told_within);
  return (high - low) / kUninformed;
}

/// The samples do not tell a constant, which keeps its start.
void drop(RobustFit& fit, Problem& problem, std::size_t constant, const std::string& why) {
  Estimate& estimate = fit.constants[constant];
  const double start = problem.constants[constant].start;
  estimate = {estimate.name, start, start, start, false, why};
  problem.values[constant] = start;
}

/// Drops the constants of which nothing was known before, where there are hardly more of them than samples.
void drop_if_too_few(RobustFit& fit, Problem& problem) {
  const std::size_t samples = problem.measured.size();
  const auto unknown = static_cast<std::size_t>(
      std::ranges::count_if(problem.constants, [](const Free& c) { return c.width == 0 && !c.whole; }));
  if (samples >= unknown + 2) return;
  for (std::size_t i = 0; i < problem.constants.size(); ++i) {
    if (problem.constants[i].width == 0 || samples == 0)
      drop(fit, problem, i,
           samples == 0 ? "nothing was measured that depends on it"
                        : "only " + std::to_string(samples) +
                              (samples == 1 ? " measurement depends on it" : " measurements depend on it"));
  }
}

/// Where a fit begins: where the last one ended, and at `starts`, with constants that were dropped as they are.
std::vector<std::vector<double>> starts_of(const RobustFit& fit, const Problem& problem,
                                           std::span<const std::vector<double>> starts) {
  std::vector<std::vector<double>> from{problem.values};
  for (std::vector<double> start : starts) {
    for (std::size_t i = 0; i < problem.constants.size(); ++i)
      if (!fit.constants[i].identified) start[i] = problem.values[i];
    from.push_back(std::move(start));
  }
  return from;
}

/// The counts and choices once more, from their starts on: the first time the other constants were still far off.
std::vector<double> chosen_again(const Problem& problem, std::span<const std::size_t> constants) {
  std::vector<double> at = problem.values;
  for (const std::size_t constant : constants) {
    const Free& c = problem.constants[constant];
    if (!c.whole || c.tried.empty()) continue;
    at[constant] = c.start;
    choose(problem, constant, at);
  }
  return at;
}

/// The best values from any of `from`. Where something is known of constants, what a usual sample tells beside that is
/// taken from a first fit.
void minimize(Problem& problem, std::span<const std::size_t> told, std::vector<std::vector<double>> from) {
  for (std::vector<double>& start : from) {
    std::vector<std::size_t> open;  // what a start says of a constant is what it is for
    for (const std::size_t i : told)
      if (start[i] == problem.values[i]) open.push_back(i);
    start = tried(problem, open, std::move(start));
  }
  problem.error_size = problem.scatter.size;
  problem.values = minimized(problem, from);
  if (const std::vector<double> again = chosen_again(problem, told); again != problem.values)
    problem.values = minimized(problem, std::vector<std::vector<double>>{again});
  if (!problem.some_known()) return;
  problem.error_size = usual_error(problem, problem.values);
  problem.values = minimized(problem, std::vector<std::vector<double>>{problem.values});
}

/// Half of a 95% interval in standard deviations of a constant, by Student's distribution.
double deviations_of_interval(std::size_t samples, std::size_t constants) {
  const double freedom = std::max(static_cast<double>(samples - std::min(samples, constants)), 1.0);
  return boost::math::quantile(boost::math::students_t(freedom), 0.975);
}

/// Drops the added causes that the samples of one group alone tell; whether there were any.
bool drop_told_by_one(RobustFit& fit, Problem& problem, const Eigen::MatrixXd& slopes,
                      std::span<const std::size_t> groups, double error_variance, const Intervals& intervals) {
  bool some = false;
  const Eigen::VectorXd places = problem.places(problem.values);
  for (Eigen::Index k = 0; k < slopes.cols(); ++k) {
    const std::size_t constant = problem.moving[static_cast<std::size_t>(k)];
    if (!problem.constants[constant].added) continue;
    Eigen::Index most = 0;
    slopes.col(k).cwiseAbs().maxCoeff(&most);
    const Eigen::MatrixXd others = without_group(slopes, groups, groups[static_cast<std::size_t>(most)]);
    const double half = intervals.half_widths(with_known(problem, others, error_variance))[k];
    if (uninformed(problem.constants[constant], places[k], half, 0) < 1) continue;
    drop(fit, problem, constant, "one measurement alone tells it");
    some = true;
  }
  return some;
}

/// Drops the added cause that is worth least, if one is worth too little; whether there was one.
bool drop_least_worth(RobustFit& fit, Problem& problem) {
  const std::optional<std::size_t> constant = least_worth(problem);
  if (constant) drop(fit, problem, *constant, "the measurements are told as well without it");
  return constant.has_value();
}

/// The constants that move which no sample feels.
std::vector<std::size_t> unfelt(const Problem& problem, const Eigen::MatrixXd& slopes) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < problem.moving.size(); ++k)
    if (slopes.col(static_cast<Eigen::Index>(k)).norm() <= kFelt) out.push_back(problem.moving[k]);
  return out;
}

/// Of each sample, its error where its group was left out of the fit.
std::vector<double> held_out_errors(const Problem& problem, std::span<const std::size_t> groups) {
  const std::size_t samples = problem.measured.size();
  std::map<std::size_t, std::size_t> order;
  for (const std::size_t group : groups) order.try_emplace(group, order.size());
  std::vector<double> errors(samples);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Problem rest = problem;
    rest.samples.clear();
    for (std::size_t i = 0; i < samples; ++i)
      if (order.at(groups[i]) % kFolds != fold) rest.samples.push_back(i);
    if (!rest.moving.empty() && rest.samples.size() > rest.moving.size()) {
      rest.values = minimized(rest, std::vector<std::vector<double>>{problem.values});
      for (const std::size_t constant : unfelt(rest, rest.slopes(rest.values))) rest = without(rest, constant);
      while (const auto constant = least_worth(rest)) rest = without(rest, *constant);
    }
    for (std::size_t i = 0; i < samples; ++i)
      if (order.at(groups[i]) % kFolds == fold) errors[i] = std::expm1(rest.error(rest.values, i));
  }
  return errors;
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
                     std::span<const std::vector<double>> starts, Scatter scatter) {
  Problem problem{measured, constants, &predict, scatter, scatter.size, {}, {}, {}};
  RobustFit fit;
  for (const Free& c : constants) {
    fit.constants.push_back({c.name, c.start, c.start, c.start, true, ""});
    problem.values.push_back(c.start);
  }
  problem.samples.resize(measured.size());
  std::iota(problem.samples.begin(), problem.samples.end(), std::size_t{0});
  drop_if_too_few(fit, problem);
  // Fit, leave out what the samples do not tell, and fit the rest again, until they tell all that is left.
  for (bool again = true; again;) {
    again = false;
    problem.moving.clear();
    std::vector<std::size_t> told;
    for (std::size_t i = 0; i < constants.size(); ++i) {
      if (!fit.constants[i].identified) continue;
      told.push_back(i);
      if (!constants[i].whole) problem.moving.push_back(i);
    }
    if (problem.moving.empty()) break;
    minimize(problem, told, starts_of(fit, problem, starts));
    for (const std::size_t i : told)
      if (constants[i].whole) fit.constants[i].value = fit.constants[i].low = fit.constants[i].high = problem.values[i];
    const Eigen::MatrixXd slopes = problem.slopes(problem.values);
    const Eigen::VectorXd places = problem.places(problem.values);
    for (const std::size_t constant : unfelt(problem, slopes)) {
      drop(fit, problem, constant, "no measurement depends on it");
      again = true;
    }
    if (again) continue;  // a constant that nothing tells counts for no degree of freedom
    const double error_variance = variance(problem, problem.values, problem.moving.size());
    const auto deviations = [&](std::size_t moved) {
      return deviations_of_interval(measured.size(), moved) * std::sqrt(variance(problem, problem.values, moved));
    };
    // Of few samples each constant that is given up leaves the others much more freedom. What was known of a constant
    // is given up for less than that: where nothing was, all that were fitted count.
    double of_known = 0;
    Intervals intervals;
    intervals.half_widths = [&](const Eigen::MatrixXd& of) -> Eigen::VectorXd {
      of_known = deviations(static_cast<std::size_t>(of.cols())) / deviations(problem.moving.size());
      return deviations(problem.moving.size()) * inverse_diagonal(of).cwiseSqrt();
    };
    intervals.covers = [&](std::size_t k, double half) {
      const std::size_t constant = problem.moving[k];
      if (constants[constant].width > 0) half *= of_known;
      const double place = places[static_cast<Eigen::Index>(k)];
      Estimate& estimate = fit.constants[constant];
      estimate.value = problem.values[constant];
      estimate.low = at_place(constants[constant], std::max(place - half, 0.0));
      estimate.high = at_place(constants[constant], std::min(place + half, 1.0));
      return uninformed(constants[constant], place, half, problem.off_known(problem.values, constant));
    };
    intervals.give_up = [&](std::size_t k) {
      const std::size_t constant = problem.moving[k];
      drop(fit, problem, constant,
           constants[constant].width > 0     ? "the measurements say hardly more of it than was known"
           : constants[constant].logarithmic ? "its interval spans a factor of more than " +
                                                   std::to_string(std::lround(constants[constant].told_within))
                                             : "its interval covers most of its bounds");
      again = true;
    };
    std::vector<std::size_t> columns(problem.moving.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    give_up_untold(with_known(problem, slopes, error_variance), columns, intervals);
    if (again) continue;
    again = drop_told_by_one(fit, problem, slopes, groups, error_variance, intervals) || drop_least_worth(fit, problem);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) fit.errors.push_back(std::expm1(problem.error(problem.values, i)));
  fit.held_out = held_out_errors(problem, groups);
  return fit;
}

}  // namespace stepcast::calibrate
