#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Measures compute on GPU 0 alone and while something else runs on another stream the whole time, into
/// FOLDER/interference.csv: multiplies and streaming, beside copies from the host, copies to another GPU, and
/// all-reduces over the node's GPUs. Requires a cluster of one node.
void run_interference_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                            int gpus);

}  // namespace stepcast::measure
