// Any bytes as what a site knows of its network, by the first line: a list of nodes ('[]'), 'topology.yaml' of Slurm,
// JSON of 'topograph', what 'ibnetdiscover' or 'iblinkinfo' print; what `scontrol show nodes` prints ('NodeName'), or
// topology.conf. What is read keeps its names: a list folded and expanded again is the same. Of a site a cluster is
// written, which is YAML; or it is refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/yaml.h"
#include "language/sites/cluster_of_site.h"
#include "language/sites/iblinkinfo.h"
#include "language/sites/ibnetdiscover.h"
#include "language/sites/slurm_nodes.h"
#include "language/sites/slurm_topology.h"
#include "language/sites/slurm_topology_yaml.h"
#include "language/sites/topograph.h"
#include "tests/fuzz/refused.h"
#include "topology/hostlist.h"

namespace stepcast::test {
namespace {

/// A cluster file of the site, of machines with one network card or with eight.
void write_cluster(const language::Site& site, std::vector<language::SiteNode> nodes) {
  if (site.switches.empty()) std::abort();
  static language::Library library(std::filesystem::path(STEPCAST_SOURCE_DIR "/configs"));
  for (const char* node : {"dgx-h100", "aws-g4dn"}) {
    refused([&] {
      language::SiteAnswers answers;
      answers.node = node;
      answers.nodes = nodes;
      language::parse_yaml(language::cluster_of_site(site, answers, library), "cluster");
    });
  }
}

/// Whether the text begins with this line, which is taken away.
bool begins_with(std::string_view& text, std::string_view line) {
  if (!text.starts_with(line) || !text.substr(line.size()).starts_with('\n')) return false;
  text.remove_prefix(line.size() + 1);
  return true;
}

void read_site(std::string_view text) {
  if (begins_with(text, "[]")) {
    const auto names = topology::expand_hostlist(text, "fuzz");
    if (topology::expand_hostlist(topology::fold_hostlist(names)) != names) std::abort();
  } else if (begins_with(text, "topology.yaml")) {
    write_cluster(language::read_slurm_topology_yaml(text, "fuzz", ""), {});
  } else if (begins_with(text, "topograph")) {
    language::SiteOfLabels told = language::read_topograph(text, "fuzz", {});
    write_cluster(told.site, std::move(told.nodes));
  } else if (begins_with(text, "ibnetdiscover")) {
    write_cluster(language::site_of_infiniband(language::read_ibnetdiscover(text, "fuzz"), {}, "fuzz"), {});
  } else if (begins_with(text, "iblinkinfo")) {
    write_cluster(language::site_of_infiniband(language::read_iblinkinfo(text, "fuzz"), {}, "fuzz"), {});
  } else if (text.starts_with("NodeName")) {
    if (language::read_slurm_nodes(text, "fuzz").empty()) std::abort();
  } else {
    write_cluster(language::read_slurm_topology(text, "fuzz"), {});
  }
}

}  // namespace
}  // namespace stepcast::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  test::refused([&] { test::read_site({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
