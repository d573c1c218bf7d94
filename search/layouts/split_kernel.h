#pragma once

#include <cstdint>

#include "models/layers/kernels.h"

namespace stepcast::search {

/// Among how many devices each dimension of a multiply is shared. Of a convolution rows are samples, columns and inner
/// are channels that it makes and reads.
struct DimensionSplit {
  std::int64_t rows = 1;     ///< of what it reads and makes
  std::int64_t columns = 1;  ///< of its weight: features that it makes
  std::int64_t inner = 1;    ///< features that it reads and sums over
  std::int64_t batch = 1;    ///< multiplies that are one kernel: experts, heads, groups of channels
};

/// A kernel, forward or backward, of a multiply with a weight of so many bytes, on one of the devices. The gradient of
/// what it reads has columns and inner dimension exchanged, that of its weight sums over rows. Parts are rounded up.
schedules::Kernel of_multiply(const schedules::Kernel& kernel, bool backward, const DimensionSplit& split,
                              double weight_bytes);

/// A kernel that `ways` devices share evenly: elementwise, or of attention's core.
schedules::Kernel shared(const schedules::Kernel& kernel, std::int64_t ways);

}  // namespace stepcast::search
