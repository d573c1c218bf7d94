// Any bytes as what nvidia-smi -q prints: facts, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calibrate/logs/nvidia_smi.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  try {
    calibrate::machine_facts(calibrate::parse_smi_query({reinterpret_cast<const char*>(data), size}, "fuzz.txt"));
  } catch (const InputError&) {
  }
  return 0;
}
