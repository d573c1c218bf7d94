#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measure/device/nvml.h"

namespace stepcast::measure {

/// GPUs that CUDA shows; 0 where there is no driver.
int gpus_present();

/// Compute capability of GPU 0, times ten; its name; bytes of its memory.
int compute_capability();
std::string gpu_name();
std::int64_t gpu_memory();

/// Cores that this process may run on.
int cores_allowed();

/// First 16 hex digits of the sha256 of GPU 0's UUID.
std::string gpu_id(const Nvml& nvml);

/// Rows of machine.csv, in the order of docs/calibrate.md. `gpus`: of this node that are measured.
std::vector<std::pair<std::string, std::string>> machine_rows(const Nvml& nvml, int gpus, const std::string& command);

}  // namespace stepcast::measure
