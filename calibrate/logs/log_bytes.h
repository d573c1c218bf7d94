#pragma once

#include <filesystem>
#include <string>

namespace stepcast::calibrate {

/// All bytes of a file, unpacked where it is compressed (gzip, zstd, xz ...: profilers write .json.gz). Throws
/// InputError for a missing file, a compressed one that breaks off or grows 100-fold past 16 MiB, and more than 4 GiB.
std::string read_log(const std::filesystem::path& file);

}  // namespace stepcast::calibrate
