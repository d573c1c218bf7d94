#pragma once

#include <string>

#include "app/format.h"

namespace stepcast::app {

/// What another program logged: a trace of the PyTorch profiler (Kineto JSON, also packed) or an export of
/// Nsight Systems as a table of kernels, what nvidia-smi -q printed as facts of the machine. Prints it in `format`;
/// where `out` is not empty, writes it there as CSV. Throws InputError for anything else.
void import_log(const std::string& file, const std::string& out, Format format);

}  // namespace stepcast::app
