#pragma once

#include <algorithm>

#include "sim/units.h"

namespace stepcast::topology {

/// What still wants to leave a subtree of switches, and to enter it, when all that can meet inside has met: flow that
/// meets low takes no link that other flow needs, so the maximum flow of a tree is the sum of what meets at each
/// switch.
struct Unmet {
  Bandwidth out{}, in{};
  friend Unmet operator+(Unmet a, Unmet b) { return {a.out + b.out, a.in + b.in}; }
  friend Unmet operator*(Unmet a, double count) { return {a.out * count, a.in * count}; }
};

/// Lets meet at a switch what its children want; adds it to `met`. The rest goes up over links of `up` each way.
inline Unmet meet(Unmet children, Bandwidth up, Bandwidth& met) {
  const Bandwidth here = std::min(children.out, children.in);
  met += here;
  return {std::min(children.out - here, up), std::min(children.in - here, up)};
}

/// Of the end points `first` to `last` - 1, of which those below `senders` send: what they want.
inline Unmet wanted(std::uint64_t first, std::uint64_t last, std::uint64_t senders, Bandwidth out, Bandwidth in) {
  const std::uint64_t sending = std::clamp(senders, first, last) - first;
  return {out * static_cast<double>(sending), in * static_cast<double>(last - first - sending)};
}

}  // namespace stepcast::topology
