#pragma once

#include <string>
#include <string_view>

#include "calibrate/logs/unpacker.h"

namespace stepcast::calibrate {

/// Of a log, all bytes of which lie in memory.
inline constexpr std::size_t kLargestLog = std::size_t{4} << 30;

/// Whether a log begins as what gzip, bzip2, xz and zstd write (profilers write .json.gz).
bool is_packed(std::string_view bytes);

/// All bytes of a packed log; `shown` is what messages call it. Throws InputError for one that breaks off, grows
/// 100-fold past 16 MiB, or holds more than 4 GiB.
std::string unpack_log(std::string_view bytes, const std::string& shown, Unpacker unpacker);

}  // namespace stepcast::calibrate
