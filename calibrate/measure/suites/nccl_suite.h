#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "calibrate/measure/host/options.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Measures collectives with NCCL as its environment now forces it (`options.nccl`) into FOLDER/collectives.csv, and
/// each as nccl-tests prints it into FOLDER/nccl/. Results are checked. Returns wrong elements.
std::int64_t run_nccl_suite(const Options& options, const std::string& run, const ProcessGroup& cluster, int gpus,
                            const std::string& gpu_name);

/// On one node: the same for every forced setting of the grid, each in a process of its own (this program again), then
/// gives the table its name. A setting that NCCL refuses is said and passed over.
void run_nccl_grid(const Options& options, const std::string& run, int gpus, int compute_capability);

/// Gives FOLDER/collectives.csv its name: no more rows are coming.
void finish_nccl_table(const Options& options, const std::string& run);

}  // namespace stepcast::measure
