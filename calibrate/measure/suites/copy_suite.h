#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Measures copies between host and each GPU, pinned and pageable, each way and both at once, of each GPU alone and of
/// all at the same time, and between every two GPUs, into FOLDER/copies.csv. Host memory and the thread that copies are
/// near the GPU. `both`: bytes are those of each way, the time is until both are done.
void run_copy_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus,
                    bool quick);

}  // namespace stepcast::measure
