// Any bytes as a trace of the PyTorch profiler: read, counted and cut into steps, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/kineto.h"
#include "calibrate/logs/step_trace.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  try {
    const calibrate::KernelLog log = calibrate::parse_kineto({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    calibrate::kernel_table(log);
    const calibrate::StepTrace step = calibrate::step_trace(log);
    if (std::accumulate(step.parts.begin(), step.parts.end(), Time{}) != step.length) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
