// Any bytes as a JSON export of Nsight Systems: read, counted and told as one step, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/nsys_json.h"
#include "calibrate/logs/step_trace.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  test::refused([&] {
    const calibrate::KernelLog log =
        calibrate::parse_nsys_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    calibrate::kernel_table(log);
    const calibrate::StepTrace step = calibrate::step_trace(log);
    if (std::accumulate(step.parts.begin(), step.parts.end(), Time{}) != step.length) std::abort();
  });
  return 0;
}
