// Any bytes as an export of Nsight Systems: read and counted, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/nsys.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  try {
    calibrate::kernel_table(calibrate::parse_nsys({reinterpret_cast<const char*>(data), size}, "fuzz.sqlite"));
  } catch (const InputError&) {
  }
  return 0;
}
