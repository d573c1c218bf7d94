#pragma once

#include <string>
#include <string_view>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::calibrate {

/// The GPU's kernels, copies and fills of a trace of the PyTorch profiler (Kineto): Chrome's trace event format, whose
/// complete events of category kernel, gpu_memcpy and gpu_memset have start and duration in microseconds and the device
/// in args. Times count from the earliest. Where the trace has them: stream, what a collective does and among how many,
/// when the host launched each (the event of the CUDA runtime of the same correlation), and the host's marks
/// ProfilerStep and Optimizer.step. Other events are passed over. Throws InputError with what is wrong for text
/// that is no JSON (with line and column), an event without a time, and a trace without any GPU event. `file` is what
/// messages call it. Source: github.com/pytorch/kineto, libkineto/src/output_json.cpp; "Trace Event Format", Google,
/// 2016.
KernelLog parse_kineto(std::string_view text, const std::string& file);

}  // namespace stepcast::calibrate
