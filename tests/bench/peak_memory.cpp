#include "tests/bench/peak_memory.h"

#include <fstream>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace stepcast::test {
namespace {

/// A line of /proc/self/status, which says kB. 0 where there is none.
std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != key) continue;
    std::size_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

PeakMemory::PeakMemory() {
#ifdef __GLIBC__
  malloc_trim(0);  // what was freed before must not be had again for nothing
#endif
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  before_ = status_bytes("VmRSS:");
}

std::size_t PeakMemory::bytes() const {
  const std::size_t peak = status_bytes("VmHWM:");
  return peak > before_ ? peak - before_ : 0;
}

}  // namespace stepcast::test
