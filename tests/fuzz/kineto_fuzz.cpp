// Any bytes as a trace of the PyTorch profiler: read and counted, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/kineto.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  try {
    calibrate::kernel_table(calibrate::parse_kineto({reinterpret_cast<const char*>(data), size}, "fuzz.json"));
  } catch (const InputError&) {
  }
  return 0;
}
