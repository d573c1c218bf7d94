#pragma once

#include <cstdint>

#include "search/space.h"

namespace stepcast::search {

/// A small space of plans of a small model on up to 32 GPUs, of a stack that overlaps and waits in some way of its own.
/// The same for one seed, whatever machine.
Space random_space(std::uint64_t seed);

}  // namespace stepcast::search
