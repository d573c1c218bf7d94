#pragma once

#include <span>
#include <string_view>

#include "collectives/algorithm.h"

namespace stepcast::collectives {

/// Every algorithm, in the order of help and tables.
std::span<const Algorithm* const> algorithms();

/// By name. Throws InputError with the nearest name and all allowed ones. `besides`: what else the caller takes.
const Algorithm& algorithm(std::string_view name, std::string_view besides = "auto, nccl, library");

}  // namespace stepcast::collectives
