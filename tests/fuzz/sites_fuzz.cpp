// Any bytes as what a site's Slurm knows: a list of nodes (first line '[]'), what `scontrol show nodes` prints
// ('NodeName') or topology.conf. What is read keeps its names: a list folded and expanded again is the same; or it is
// refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "language/sites/slurm_nodes.h"
#include "language/sites/slurm_topology.h"
#include "tests/fuzz/refused.h"
#include "topology/hostlist.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  test::refused([&] {
    if (text.starts_with("[]\n")) {
      const auto names = topology::expand_hostlist(text.substr(3), "fuzz");
      if (topology::expand_hostlist(topology::fold_hostlist(names)) != names) std::abort();
    } else if (text.starts_with("NodeName")) {
      if (language::read_slurm_nodes(text, "fuzz").empty()) std::abort();
    } else if (language::read_slurm_topology(text, "fuzz").switches.empty()) {
      std::abort();
    }
  });
  return 0;
}
