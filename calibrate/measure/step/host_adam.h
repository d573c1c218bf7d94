#pragma once

#include "calibrate/measure/kernels/adam.h"
#include "calibrate/measure/kernels/element.h"

namespace stepcast::measure {

/// As adam_step(), by the host's cores in host memory, with bf16 gradients. Requires at least one thread.
void host_adam(const Adam& adam, bf16* parameters, float* master, float* first, float* second, const bf16* gradient,
               std::int64_t elements, int threads);

}  // namespace stepcast::measure
