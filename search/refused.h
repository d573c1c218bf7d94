#pragma once

#include <optional>
#include <tuple>

#include "search/space.h"
#include "sim/units.h"

namespace stepcast::search {

/// A plan that does not fit.
struct Refused {
  Settings settings{};
  Bytes missing{};  ///< of a GPU or a node
};

/// Whether the first misses less than the second: of equals, whether it stands before that in the space.
inline bool misses_less(const std::optional<Refused>& a, const std::optional<Refused>& b) {
  return a && (!b || std::tie(a->missing, a->settings) < std::tie(b->missing, b->settings));
}

}  // namespace stepcast::search
