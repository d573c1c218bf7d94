#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stepcast::calibrate {

/// All bytes of a file, unpacked where it is compressed (gzip, bzip2, xz, zstd: profilers write .json.gz). Throws
/// InputError for a missing file, a compressed one that breaks off or grows 100-fold past 16 MiB, and more than 4 GiB.
std::string read_log(const std::filesystem::path& file);

/// The same of bytes that were read already; `shown` is what messages call them.
std::string unpack_log(std::string_view bytes, const std::string& shown);

}  // namespace stepcast::calibrate
