#pragma once

#include <cstddef>
#include <string>

namespace stepcast::calibrate {

/// Complains of a compressed file of which more came out than comes of logs and tables: over 100 times its size and
/// over 16 MiB. A megabyte of bzip2 can stand for fifty gigabytes. `shown` is what messages call the file.
void check_expansion(std::size_t packed, std::size_t unpacked, const std::string& shown);

}  // namespace stepcast::calibrate
