#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/device/nvml.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Runs multiplies, streaming, and the kernels of a transformer layer on GPU 0, each for so many seconds without a
/// pause, and writes what a round takes at first and at last to FOLDER/sustained.csv, and what NVML says all the while
/// to FOLDER/clocks.csv.
void run_sustained_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                         const Nvml& nvml, double seconds);

}  // namespace stepcast::measure
