#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/units.h"

namespace stepcast::app {

/// Sizes that one command takes, at most.
inline constexpr std::size_t kMostSizes = 1000;

/// What --sizes names: "8B:8GiB" (doubling), "1MiB:16MiB:1MiB", "8B:8GiB:x4", or sizes with commas between them. Throws
/// InputError.
std::vector<Bytes> sizes_named(const std::string& words);

}  // namespace stepcast::app
