// Any bytes as an allocation ("node0:0-3,node2:4-7"): GPUs of nodes, each once, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/refused.h"
#include "topology/allocation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  constexpr std::uint32_t kGpusPerNode = 8;
  test::refused([&] {
    const topology::Allocation found = topology::resolve(
        topology::parse_allocation({reinterpret_cast<const char*>(data), size}), kGpusPerNode, "fuzz");
    if (topology::count(found) == 0 || topology::count(found) > found.of_nodes * kGpusPerNode) std::abort();
  });
  return 0;
}
