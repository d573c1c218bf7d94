#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/curve.h"
#include "collectives/transport.h"

namespace stepcast::calibrate {

/// One constant of a transport, named as in configs/software/ ("ll.share"). Values are in microseconds or shares.
struct FittedConstant {
  std::string name;
  double value = 0;
  double low = 0,
         high = 0;  ///< 95 % confidence interval, within the constant's bounds; {value, value} where not identified
  bool microseconds = false;
  bool identified = false;  ///< the curves tell it
  std::string why;          ///< where not identified
};

struct TransportFit {
  collectives::Transport transport;
  std::vector<FittedConstant> constants;  ///< every one that may be fitted, in the order of fittable_constants()
  double median = 0;                      ///< of |predicted / measured - 1| over all points
  double mean = 0;
  std::size_t points = 0;
};

/// The names of all constants that a fit can move.
std::vector<std::string_view> fittable_constants();

/// Robust (Cauchy) least squares on log time over all points of all curves, by Levenberg and Marquardt through Eigen,
/// from `start`. Constants stay between bounds by fitting the logit of where they lie, each pulled weakly to where it
/// began. `fixed` names constants to leave alone. A constant that no point feels keeps its starting value. One whose
/// 95 % interval (from the inverse of J^T J) covers most of its bounds is not identified, for others can make up for
/// it: it stays where the fit left it, and the intervals of the others hold given that. Values are rounded to what a
/// file of configs/software/ says: nanoseconds, and shares to four decimals. Where curves cross a network, what its
/// link says of NCCL is taken into the stack first (network_of_links), whose own times are then moved. Throws
/// InputError for a name it does not know, and for fewer than 5 points. Takes seconds to minutes: each step simulates
/// every point once for each constant.
TransportFit fit_transport(std::span<const Curve> curves, const collectives::Transport& start,
                           std::span<const std::string> fixed = {});

/// The value of a constant by its name; times in microseconds.
double constant(const collectives::Transport& transport, std::string_view name);

}  // namespace stepcast::calibrate
