#pragma once

#include <cstdint>
#include <vector>

namespace stepcast::collectives {

inline constexpr std::uint32_t kNoParent = 0xffffffffu;

/// The parent of each rank (or node); kNoParent at the root.
using Tree = std::vector<std::uint32_t>;

}  // namespace stepcast::collectives
