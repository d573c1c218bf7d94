#include "calibrate/fit/transport_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/statistics.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using collectives::Protocol;
using collectives::Transport;

constexpr double kOdd = 0.1;           // beyond 10 % an error counts ever less (Cauchy's loss): odd runs drag nobody
constexpr double kLogitStep = 1e-3;    // of the logit: wide enough to pass over the ties of whole picoseconds
constexpr double kLeastMoved = 1e-3;   // residuals that move by less are those of a constant that no point feels
constexpr double kMostOfBounds = 0.8;  // an interval that covers more of the bounds says nothing
constexpr int kLeastPoints = 5;
constexpr double kNormal95 = 1.96;
constexpr std::array kEverywhere = {-5.0, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5};  // logits: 0.7 to 97 % of a range
constexpr int kRounds = 4;
constexpr double kPull = 0.01;  // a logit away from where the fit started weighs as much as an error of 1 % at a point

/// A constant, by where it is kept, and the bounds of the fit (microseconds or shares).
struct Constant {
  std::string_view name;
  Time Transport::*time = nullptr;
  double Transport::*share = nullptr;
  Protocol Transport::*protocol = nullptr;
  Time Protocol::*protocol_time = nullptr;
  double low = 0, high = 1;
};

constexpr Constant of(std::string_view name, Time Transport::*time, double high) {
  return {name, time, nullptr, nullptr, nullptr, 0, high};
}
constexpr Constant of(std::string_view name, double Transport::*share, double low) {
  return {name, nullptr, share, nullptr, nullptr, low, 1};
}
constexpr Constant of(std::string_view name, Protocol Transport::*protocol, Time Protocol::*time, double high) {
  return {name, nullptr, nullptr, protocol, time, 0, high};
}
constexpr Constant share_of(std::string_view name, Protocol Transport::*protocol, double low, double high = 1) {
  return {name, nullptr, nullptr, protocol, nullptr, low, high};
}

// Of a line that LL fills half is flags, of one that LL128 fills 8 bytes of 128.
constexpr double kMostOfLl = 0.5, kMostOfLl128 = 120.0 / 128;

using T = Transport;
using P = Protocol;
constexpr std::array kTransportConstants = {
    of("launch", &T::launch, 150),
    of("ramp", &T::ramp, 400),
    of("nvlink_step", &T::nvlink_step, 20),
    of("pcie_step", &T::pcie_step, 40),
    of("host_step", &T::host_step, 60),
    of("network_step", &T::network_step, 60),
    of("nvlink_efficiency", &T::nvlink_efficiency, 0.3),
    of("network_efficiency", &T::network_efficiency, 0.1),
    of("tree_efficiency", &T::tree_efficiency, 0.2),
    of("issue", &T::issue, 30),
    of("own_copy", &T::own_copy, 0.0),
    of("ll128.launch", &T::ll128, &P::launch, 100),
    of("ll128.ramp", &T::ll128, &P::ramp, 200),
    of("ll128.nvlink_step", &T::ll128, &P::nvlink_step, 10),
    of("ll128.pcie_step", &T::ll128, &P::pcie_step, 20),
    of("ll128.host_step", &T::ll128, &P::host_step, 40),
    of("ll128.network_step", &T::ll128, &P::network_step, 40),
    share_of("ll128.share", &T::ll128, 0.1, kMostOfLl128),
    of("ll.launch", &T::ll, &P::launch, 60),
    of("ll.ramp", &T::ll, &P::ramp, 200),
    of("ll.nvlink_step", &T::ll, &P::nvlink_step, 10),
    of("ll.pcie_step", &T::ll, &P::pcie_step, 20),
    of("ll.host_step", &T::ll, &P::host_step, 40),
    of("ll.network_step", &T::ll, &P::network_step, 30),
    share_of("ll.share", &T::ll, 0.02, kMostOfLl),
    of("nvls.launch", &T::nvls, &P::launch, 100),
    of("nvls.ramp", &T::nvls, &P::ramp, 200),
    of("nvls.nvlink_step", &T::nvls, &P::nvlink_step, 20),
    of("nvls.network_step", &T::nvls, &P::network_step, 60),
    share_of("nvls.share", &T::nvls, 0.3),
    of("p2p.launch", &T::p2p, &P::launch, 100),
    of("p2p.ramp", &T::p2p, &P::ramp, 200),
    of("p2p.nvlink_step", &T::p2p, &P::nvlink_step, 20),
    of("p2p.pcie_step", &T::p2p, &P::pcie_step, 40),
    of("p2p.host_step", &T::p2p, &P::host_step, 60),
    of("p2p.network_step", &T::p2p, &P::network_step, 60),
    share_of("p2p.share", &T::p2p, 0.3),
};

bool is_time(const Constant& c) { return c.time != nullptr || c.protocol_time != nullptr; }

double get(const Transport& t, const Constant& c) {
  if (c.time != nullptr) return to_seconds(t.*c.time) * 1e6;
  if (c.share != nullptr) return t.*c.share;
  if (c.protocol_time != nullptr) return to_seconds((t.*c.protocol).*c.protocol_time) * 1e6;
  return (t.*c.protocol).share;
}

void set(Transport& t, const Constant& c, double value) {
  if (c.time != nullptr) {
    t.*c.time = from_seconds(value * 1e-6);
  } else if (c.share != nullptr) {
    t.*c.share = value;
  } else if (c.protocol_time != nullptr) {
    (t.*c.protocol).*c.protocol_time = from_seconds(value * 1e-6);
  } else {
    (t.*c.protocol).share = value;
  }
}

double rounded(const Constant& c, double value) {
  const double parts = is_time(c) ? 1e3 : 1e4;
  return std::round(value * parts) / parts;
}

double at_logit(const Constant& c, double x) { return c.low + (c.high - c.low) / (1 + std::exp(-x)); }

double logit_of(const Constant& c, double value) {
  const double share = std::clamp((value - c.low) / (c.high - c.low), 1e-3, 1 - 1e-3);
  return std::log(share / (1 - share));
}

/// Error of each point of each curve as the fit counts it.
struct Residuals {
  std::span<const Curve> curves;
  const Transport* start;
  std::vector<const Constant*> free;
  Eigen::Index points = 0;
  Eigen::VectorXd from;  ///< where the fit starts, and what it is pulled to where the points say nothing

  Eigen::Index inputs() const { return static_cast<Eigen::Index>(free.size()); }

  Transport at(const Eigen::VectorXd& x) const {
    Transport t = *start;
    for (std::size_t i = 0; i < free.size(); ++i) set(t, *free[i], at_logit(*free[i], x[static_cast<Eigen::Index>(i)]));
    return t;
  }

  void begin(const std::vector<std::size_t>& numbers) {
    free.clear();
    for (const std::size_t number : numbers) free.push_back(&kTransportConstants[number]);
    from.resize(inputs());
    for (std::size_t i = 0; i < free.size(); ++i) {
      from[static_cast<Eigen::Index>(i)] = logit_of(*free[i], get(*start, *free[i]));
    }
  }

  void operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    const Transport t = at(x);
    Eigen::Index row = 0;
    const std::vector<std::vector<Time>> predicted = predict(curves, t);
    for (std::size_t c = 0; c < curves.size(); ++c) {
      for (std::size_t i = 0; i < predicted[c].size(); ++i) {
        const double error = std::log(predicted[c][i] / curves[c].points[i].time), odd = error / kOdd;
        const double cost = kOdd * kOdd * std::log1p(odd * odd);
        out[row++] = std::copysign(std::sqrt(cost), error);
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
    for (const double end : {kEverywhere.front(), kEverywhere.back()}) {
      Eigen::VectorXd x = residuals.from;
      x[static_cast<Eigen::Index>(k)] = end;
      residuals(x, there);
      felt = felt || (there - here).head(residuals.points).norm() > kLeastMoved;
    }
    if (!felt) out.push_back(numbers[k]);
  }
  return out;
}

bool has_protocol(const Transport& t, const Constant& c) { return c.protocol == nullptr || (t.*c.protocol).share > 0; }

}  // namespace

std::vector<std::string_view> fittable_constants() {
  std::vector<std::string_view> names;
  for (const Constant& c : kTransportConstants) names.push_back(c.name);
  return names;
}

double constant(const Transport& transport, std::string_view name) {
  for (const Constant& c : kTransportConstants) {
    if (c.name == name) return get(transport, c);
  }
  throw InputError("transport", "no constant '" + std::string(name) + "'");
}

TransportFit fit_transport(std::span<const Curve> curves, const Transport& start, std::span<const std::string> fixed,
                           Reach reach) {
  for (const std::string& name : fixed) constant(start, name);
  Residuals residuals;
  residuals.curves = curves;
  residuals.start = &start;
  for (const Curve& curve : curves) residuals.points += static_cast<Eigen::Index>(curve.points.size());
  if (residuals.points < kLeastPoints) {
    throw InputError("", "found " + std::to_string(residuals.points) + " points, expected at least " +
                             std::to_string(kLeastPoints) + " to fit to");
  }

  std::array<std::string, kTransportConstants.size()> why;
  std::array<double, kTransportConstants.size()> half{};
  for (std::size_t i = 0; i < kTransportConstants.size(); ++i) {
    if (std::ranges::find(fixed, kTransportConstants[i].name) != fixed.end()) why[i] = "kept fixed";
    if (!has_protocol(start, kTransportConstants[i])) why[i] = "the stack does not have this protocol";
  }
  const auto told = [&] {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < kTransportConstants.size(); ++i) {
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
  fit.transport = start;
  for (const std::size_t i : unfelt(residuals, told())) why[i] = "no point depends on it";
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::size_t> free = told();
    if (free.empty()) break;
    const LeastSquares squares = problem(free);
    const Eigen::VectorXd x = reach == Reach::wide ? minimize_widely(squares, residuals.from, kEverywhere, kRounds).x
                                                   : minimize(squares, residuals.from).x;
    fit.transport = residuals.at(x);
    Eigen::VectorXd values(squares.residuals);
    residuals(x, values);
    std::vector<std::size_t> all(free.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Intervals intervals;
    intervals.half_widths = [&](const Eigen::MatrixXd& of) { return half_widths(of, values.head(residuals.points)); };
    intervals.covers = [&](std::size_t k, double width) {
      const Constant& c = kTransportConstants[free[k]];
      const double at = x[static_cast<Eigen::Index>(k)];
      half[free[k]] = width;
      return (at_logit(c, at + width) - at_logit(c, at - width)) / (c.high - c.low) / kMostOfBounds;
    };
    intervals.give_up = [&](std::size_t k) {
      why[free[k]] = "its interval covers most of its bounds";
      again = reach == Reach::near;
    };
    give_up_untold(squares.slopes(x).topRows(residuals.points), std::move(all), intervals);
  }

  for (std::size_t i = 0; i < kTransportConstants.size(); ++i) {
    const Constant& c = kTransportConstants[i];
    set(fit.transport, c, rounded(c, get(fit.transport, c)));
    FittedConstant out;
    out.name = c.name;
    out.microseconds = is_time(c);
    out.value = out.low = out.high = get(fit.transport, c);
    out.identified = why[i].empty();
    out.why = why[i];
    if (out.identified) {
      const double x = logit_of(c, out.value);
      out.low = std::min(out.value, at_logit(c, x - half[i]));
      out.high = std::max(out.value, at_logit(c, x + half[i]));
    }
    fit.constants.push_back(std::move(out));
  }
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
  return fit;
}

}  // namespace stepcast::calibrate
