#pragma once

#include <string>

#include "calibrate/bundle/bundle.h"
#include "language/core/library.h"
#include "scenario/gpu.h"

namespace stepcast::language {

struct MeasuredGpu {
  std::string file;  ///< of configs/gpus/
  schedules::Gpu gpu;
};

/// The GPU of configs/gpus/ that was measured: the one named `wanted`, or where that is empty the one with the
/// machine's compute capability, SMs and memory (within 5 %: drivers keep some); of several, the one most of whose
/// name's parts stand in the driver's name for it. Throws InputError for a wanted one with other SMs or another compute
/// capability (--gpu), and where none or several fit (with their names).
MeasuredGpu find_measured_gpu(const calibrate::MeasuredMachine& machine, const std::string& wanted, Library& library);

}  // namespace stepcast::language
