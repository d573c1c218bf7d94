#include "calibrate/fit/transport_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/statistics.h"
#include "calibrate/fit/transport_constants.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using collectives::Transport;

constexpr double kLeastMoved = 1e-3;  // residuals that move by less are those of a constant that no point feels
constexpr int kLeastPoints = 5;
constexpr std::array kEnds = {-5.0, 3.5};  // logits: 0.7 and 97 % of a range
constexpr double kPull = 0.01;  // a logit away from where the fit started weighs as much as an error of 1 % at a point

/// Error of each point of each curve as the fit counts it.
struct Residuals {
  std::span<const Curve> curves;
  const Transport* start;
  std::vector<const TransportConstant*> free;
  Eigen::Index points = 0;
  Eigen::VectorXd from;  ///< where the fit starts, and what it is pulled to where the points say nothing

  Eigen::Index inputs() const { return static_cast<Eigen::Index>(free.size()); }

  Transport at(const Eigen::VectorXd& x) const {
    Transport t = *start;
    for (std::size_t i = 0; i < free.size(); ++i) free[i]->set(t, free[i]->at_logit(x[static_cast<Eigen::Index>(i)]));
    return t;
  }

  void begin(const std::vector<std::size_t>& numbers) {
    free.clear();
    for (const std::size_t number : numbers) free.push_back(&transport_constants()[number]);
    from.resize(inputs());
    for (std::size_t i = 0; i < free.size(); ++i) {
      from[static_cast<Eigen::Index>(i)] = free[i]->logit_of(free[i]->get(*start));
    }
  }

  void operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    const Transport t = at(x);
    Eigen::Index row = 0;
    const std::vector<std::vector<Time>> predicted = predict(curves, t);
    for (std::size_t c = 0; c < curves.size(); ++c) {
      for (std::size_t i = 0; i < predicted[c].size(); ++i) {
        out[row++] = counted_error(predicted[c][i], curves[c].points[i].time);
      }
    }
    out.tail(inputs()) = kPull * (x - from);
  }
};

/// 95 % half-widths of the logits; infinite where the others can make up for a constant.
Eigen::VectorXd half_widths(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residuals) {
  const Eigen::Index constants = jacobian.cols();
  const double freedom = static_cast<double>(std::max<Eigen::Index>(jacobian.rows() - constants, 1));
  const double variance = residuals.squaredNorm() / freedom;
  return kNormal95 * (variance * inverse_diagonal(jacobian)).cwiseSqrt();
}

/// Of these constants those that move no residual from one end of their range to the other. Not by slopes where the fit
/// begins: a protocol that is nowhere the fastest there may be so elsewhere.
std::vector<std::size_t> unfelt(Residuals& residuals, const std::vector<std::size_t>& numbers) {
  residuals.begin(numbers);
  Eigen::VectorXd here(residuals.points + residuals.inputs()), there = here;
  residuals(residuals.from, here);
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    bool felt = false;
    for (const double end : kEnds) {
      Eigen::VectorXd x = residuals.from;
      x[static_cast<Eigen::Index>(k)] = end;
      residuals(x, there);
      felt = felt || (there - here).head(residuals.points).norm() > kLeastMoved;
    }
    if (!felt) out.push_back(numbers[k]);
  }
  return out;
}

/// Rounds them, and says how well each is told: `half` is the half-width of its interval, a logit.
void tell_constants(TransportFit& fit, std::span<const std::string> why, std::span<const double> half) {
  for (std::size_t i = 0; i < transport_constants().size(); ++i) {
    const TransportConstant& c = transport_constants()[i];
    c.set(fit.transport, c.rounded(c.get(fit.transport)));
    FittedConstant out;
    out.name = c.name;
    out.microseconds = c.is_time();
    out.value = out.low = out.high = c.get(fit.transport);
    out.identified = why[i].empty();
    out.why = why[i];
    if (out.identified) {
      const double x = c.logit_of(out.value);
      out.low = std::min(out.value, c.at_logit(x - half[i]));
      out.high = std::max(out.value, c.at_logit(x + half[i]));
    }
    fit.constants.push_back(std::move(out));
  }
}

void count_errors(TransportFit& fit, std::span<const Curve> curves) {
  std::vector<double> off;
  const std::vector<std::vector<Time>> predicted = predict(curves, fit.transport);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t i = 0; i < predicted[c].size(); ++i) {
      off.push_back(std::abs(predicted[c][i] / curves[c].points[i].time - 1));
      fit.mean += off.back();
    }
  }
  fit.points = off.size();
  if (!off.empty()) {
    fit.mean /= static_cast<double>(off.size());
    fit.median = *median(off);
  }
}

}  // namespace

std::vector<std::string_view> fittable_constants() {
  std::vector<std::string_view> names;
  for (const TransportConstant& c : transport_constants()) names.push_back(c.name);
  return names;
}

double constant(const Transport& transport, std::string_view name) {
  if (const TransportConstant* const c = constant_named(name)) return c->get(transport);
  throw InputError("transport", "no constant '" + std::string(name) + "'");
}

TransportFit fit_transport(std::span<const Curve> curves, const Transport& start, std::span<const std::string> fixed) {
  for (const std::string& name : fixed) constant(start, name);
  const auto crosses = std::ranges::find_if(curves, [](const Curve& curve) { return curve.cluster.nodes() > 1; });
  const Transport from = crosses == curves.end() ? start : over(start, crosses->cluster.nic_port().nccl);
  Residuals residuals;
  residuals.curves = curves;
  residuals.start = &from;
  for (const Curve& curve : curves) residuals.points += static_cast<Eigen::Index>(curve.points.size());
  if (residuals.points < kLeastPoints) {
    throw InputError("", "found " + std::to_string(residuals.points) + " points, expected at least " +
                             std::to_string(kLeastPoints) + " to fit to");
  }

  std::vector<std::string> why(transport_constants().size());
  std::vector<double> half(transport_constants().size());
  for (std::size_t i = 0; i < transport_constants().size(); ++i) {
    if (std::ranges::find(fixed, transport_constants()[i].name) != fixed.end()) why[i] = "kept fixed";
    if (!transport_constants()[i].is_in(from)) why[i] = "the stack does not have this protocol";
  }
  const auto told = [&] {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < transport_constants().size(); ++i) {
      if (why[i].empty()) numbers.push_back(i);
    }
    return numbers;
  };
  const auto problem = [&](const std::vector<std::size_t>& numbers) {
    residuals.begin(numbers);
    LeastSquares squares;
    squares.residuals = residuals.points + residuals.inputs();
    squares.at = std::cref(residuals);
    squares.precision = kLogitStep * kLogitStep;
    squares.most_evaluations = static_cast<int>(60 * residuals.inputs());
    squares.tolerance = 1e-4;
    return squares;
  };
  TransportFit fit;
  fit.transport = from;
  for (const std::size_t i : unfelt(residuals, told())) why[i] = "no point depends on it";
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::size_t> free = told();
    if (free.empty()) break;
    const LeastSquares squares = problem(free);
    const Eigen::VectorXd x = minimize(squares, residuals.from).x;
    fit.transport = residuals.at(x);
    Eigen::VectorXd values(squares.residuals);
    residuals(x, values);
    std::vector<std::size_t> all(free.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Intervals intervals;
    intervals.half_widths = [&](const Eigen::MatrixXd& of) { return half_widths(of, values.head(residuals.points)); };
    intervals.covers = [&](std::size_t k, double width) {
      half[free[k]] = width;
      return transport_constants()[free[k]].covers(x[static_cast<Eigen::Index>(k)], width) / kMostOfBounds;
    };
    intervals.give_up = [&](std::size_t k) {
      why[free[k]] = "its interval covers most of its bounds";
      again = true;
    };
    give_up_untold(squares.slopes(x).topRows(residuals.points), std::move(all), intervals);
  }

  tell_constants(fit, why, half);
  count_errors(fit, curves);
  return fit;
}

}  // namespace stepcast::calibrate
