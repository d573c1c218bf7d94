#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "search/space.h"

namespace stepcast::search {

/// The values of the axes after the first kSharedAxes, which plans of one layout do not share.
using OtherSettings = std::array<std::int32_t, kAxes - kSharedAxes>;

inline OtherSettings others_of(const Settings& settings) {
  OtherSettings others{};
  for (std::size_t axis = kSharedAxes; axis < kAxes; ++axis)
    others[axis - kSharedAxes] = static_cast<std::int32_t>(settings[axis]);
  return others;
}

}  // namespace stepcast::search
