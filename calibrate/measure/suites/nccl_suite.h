#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "calibrate/measure/host/options.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Measures collectives with NCCL as its environment now forces it (`options.nccl`) into FOLDER/collectives.csv, and
/// each as nccl-tests prints it into FOLDER/nccl/. Results are checked. A case that NCCL refuses, or that hangs, is a
/// row of refused.csv; the rest goes on. Returns wrong elements.
std::int64_t run_nccl_suite(const Options& options, const std::string& run, const ProcessGroup& cluster, int gpus,
                            const std::string& gpu_name);

/// Gives FOLDER/collectives.csv its name: no more rows are coming.
void finish_nccl_table(const Options& options, const std::string& run);

}  // namespace stepcast::measure
