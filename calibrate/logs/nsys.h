#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::calibrate {

/// The GPU's kernels, copies and fills of an SQLite export of Nsight Systems (nsys export --type sqlite): tables
/// CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY and _MEMSET, times in nanoseconds, kernel names in StringIds; tables of what did
/// not happen are not there. Streams, and the launches of CUPTI_ACTIVITY_KIND_RUNTIME, where the export has them. Times
/// count from the earliest. Throws InputError for a file that is no database, one without a kernel, values that are
/// none, an id of two names, and one that would take far longer to read than a file of its size can: rows and texts of
/// a forged one may share pages. Read only. Source: docs.nvidia.com/nsight-systems, "SQLite Schema Reference";
/// copyKind: CUPTI, CUpti_ActivityMemcpyKind.
KernelLog read_nsys(const std::filesystem::path& file);

/// The same of a database in memory; `file` is what messages call it.
KernelLog parse_nsys(std::string_view bytes, const std::string& file);

/// Whether a file begins as SQLite databases do.
bool is_sqlite(const std::filesystem::path& file);

/// The same of bytes that were read already.
bool is_sqlite_text(std::string_view bytes);

}  // namespace stepcast::calibrate
