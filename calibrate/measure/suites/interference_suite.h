#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Measures what two things that share a GPU cost each other, into FOLDER/interference.csv: multiplies and streaming of
/// each GPU alone and beside copies from the host, copies to the next GPU, and all-reduces over the node's GPUs; and on
/// each GPU the all-reduces, alone and while all GPUs multiply or stream. Requires a cluster of one node.
void run_interference_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                            int gpus);

}  // namespace stepcast::measure
