// Any bytes as what `nvidia-smi topo -m` prints: a machine that can be built, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/machine.h"
#include "tests/fuzz/refused.h"
#include "topology/import/smi_matrix.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  using enum topology::LinkKind;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const topology::SmiLinks links{
      {.name = "nvlink", .kind = nvlink, .bandwidth = {25e9}, .latency = nanoseconds(500), .source = {}},
      {.name = "pcie", .kind = pcie, .bandwidth = {32e9}, .latency = nanoseconds(300), .source = {}},
      {.name = "socket", .kind = socket, .bandwidth = {50e9}, .latency = nanoseconds(200), .source = {}}};
  test::refused([&] { test::look_at(topology::import_smi_matrix(text, links, "fuzz.txt")); });
  return 0;
}
