#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "collectives/transport.h"

namespace stepcast::calibrate {

inline constexpr double kLogitStep = 1e-3;    ///< of a logit: wide enough to pass over the ties of whole picoseconds
inline constexpr double kMostOfBounds = 0.8;  ///< an interval that covers more of the bounds says nothing
inline constexpr double kNormal95 = 1.96;     ///< a 95 % interval's half-width over the standard deviation

/// A constant of a transport that a fit can move, by where it is kept, and its bounds there: microseconds or shares.
/// None is beyond what the wire allows: LL's share is at most 1/2, for half of each of its words is a flag, LL128's
/// 120/128.
struct TransportConstant {
  std::string_view name;  ///< as in configs/software/: "ll.share"
  Time collectives::Transport::*time = nullptr;
  double collectives::Transport::*share = nullptr;
  collectives::Protocol collectives::Transport::*protocol = nullptr;
  Time collectives::Protocol::*protocol_time = nullptr;
  double collectives::Protocol::*protocol_share = nullptr;
  double low = 0, high = 1;

  bool is_time() const { return time != nullptr || protocol_time != nullptr; }
  double get(const collectives::Transport& transport) const;  ///< in microseconds, or a share
  void set(collectives::Transport& transport, double value) const;
  /// What a file of configs/ says: nanoseconds, and shares to four decimals.
  double rounded(double value) const;
  /// Fits move the logit of where a constant lies between its bounds, so that it stays there.
  double at_logit(double logit) const;
  double logit_of(double value) const;
  /// What an interval of so wide a half around a logit covers of the bounds.
  double covers(double logit, double half) const;
  /// The stack has the protocol that this is a constant of.
  bool is_in(const collectives::Transport& transport) const;
};

/// LL starts soonest and LL128 sooner than Simple, at every step, and its channels fill soonest (ramp): where constants
/// say otherwise (NCCL never uses LL128 for the smallest sizes, so no recording tells what it costs there), the later
/// protocol takes the sooner one's times.
void put_in_order(collectives::Transport& transport);

/// How far a prediction is off as fits count it: the root of Cauchy's loss on log time, with the error's sign. Beyond
/// 10 % an error counts ever less: odd runs drag nobody.
double counted_error(Time predicted, Time measured);

/// Null for a name that none has.
const TransportConstant* constant_named(std::string_view name);

/// All that a fit can move.
std::span<const TransportConstant> transport_constants();

}  // namespace stepcast::calibrate
