// Any bytes as a topology of NCCL or RCCL: a machine that can be built, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/machine.h"
#include "tests/fuzz/refused.h"
#include "topology/import/nccl_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  test::refused([&] {
    const topology::NodeSpec node = topology::import_nccl_xml(text, "fuzz.xml");
    topology::identify_gpus(text, "fuzz.xml");
    test::look_at(node);
  });
  return 0;
}
