#pragma once

#include <filesystem>
#include <string>

namespace stepcast::measure {

/// Measures copies between host and each GPU, pinned and pageable, each way and both at once, and between every two
/// GPUs, into FOLDER/copies.csv. `both`: bytes are those of each way, the time is until both are done.
void run_copy_suite(const std::filesystem::path& folder, const std::string& run, int gpus, bool quick);

}  // namespace stepcast::measure
