#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/device/nvml.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Runs the checks of all hand-written kernels on GPU 0, and of cuBLASLt in every type and layout; a line for each to
/// stderr. Returns how many failed.
int run_checks();

/// Measures the kernel plan on GPU 0 into FOLDER/kernels.csv, after the checks; a kernel that fails its check is not
/// measured, and one that cannot run is a row of refused.csv. `time_limit`: seconds, 0 for none. Returns how many
/// checks failed.
int run_kernel_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                     const Nvml& nvml, bool quick, double time_limit);

}  // namespace stepcast::measure
