#pragma once

#include <vector>

#include "models/layers/kernels.h"
#include "scenario/captured_modules.h"

namespace stepcast::schedules {

/// Which kernels of a layer's pass are in a CUDA graph. Those that are of no module by themselves (norms, residuals,
/// casts, traffic) go with what runs before them, or at the beginning with what follows.
std::vector<bool> captured_kernels(const Kernels& pass, const CapturedModules& modules);

}  // namespace stepcast::schedules
