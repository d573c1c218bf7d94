#pragma once

#include <optional>
#include <string>

#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/step_trace.h"

namespace stepcast::app {

/// What a file that is no scenario holds.
struct LogFile {
  std::string shown;                            ///< the file, as messages call it
  std::optional<calibrate::KernelLog> kernels;  ///< where a profiler wrote it
  std::string text;                             ///< unpacked, where none did
};

/// Reads what a profiler recorded of GPUs: a trace of the PyTorch profiler (Kineto JSON, packed or not) or an export of
/// Nsight Systems (SQLite or JSON). `is_other`: whether a text is one that the caller reads itself; none: no text is.
/// Text that is neither is left to the caller too. Throws InputError for a broken file.
LogFile read_log_file(const std::string& file, bool (*is_other)(const std::string& text) = nullptr);

/// The step of a log that `choice` names. Throws InputError with the file's name.
calibrate::StepTrace step_of(const LogFile& log, const calibrate::TraceChoice& choice);

}  // namespace stepcast::app
