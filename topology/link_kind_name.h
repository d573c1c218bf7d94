#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "topology/cluster.h"

namespace stepcast::topology {

/// As every report says it: "nvlink".
constexpr std::string_view name(LinkKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"nvlink", "pcie", "c2c", "socket", "network"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace stepcast::topology
