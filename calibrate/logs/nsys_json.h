#pragma once

#include <string>
#include <string_view>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::calibrate {

/// Whether a text begins as JSON of Nsight Systems does: lines of objects whose first key is Type, type or data.
bool is_nsys_json(std::string_view text);

/// The GPU's kernels, copies and fills of a JSON export of Nsight Systems (nsys export --type json), and when the host
/// called for each. Such a file is a message of Nsight's own in each line: events first or last, and the texts that
/// they name by number, in one line (`data`) or a line each (--separate-strings). Of events, CudaEvent with a kernel,
/// memcpy or memset is read, and TraceProcessEvent; all others are passed over. NVIDIA does not promise to keep the
/// format. Times count from the earliest. Throws InputError with file:line:column for a line that is no JSON, and with
/// file:line for an event without what it needs. Source: docs.nvidia.com, "nsys-exporter", "JSON and Text Format
/// Description"; recorded exports.
KernelLog parse_nsys_json(std::string_view text, const std::string& file);

}  // namespace stepcast::calibrate
