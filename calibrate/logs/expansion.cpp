#include "calibrate/logs/expansion.h"

#include "sim/input_error.h"

namespace stepcast::calibrate {

void check_expansion(std::size_t packed, std::size_t unpacked, const std::string& shown) {
  constexpr std::size_t kMostTimes = 100, kAlways = std::size_t{16} << 20;
  if (unpacked <= kAlways || unpacked / kMostTimes <= packed) return;
  throw InputError(shown, "found more than 100 times its " + std::to_string(packed) +
                              " bytes in it, expected a file that compresses less (or is unpacked already)");
}

}  // namespace stepcast::calibrate
