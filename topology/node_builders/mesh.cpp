#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/node_builders/pcie_tree.h"
#include "topology/text.h"

namespace stepcast::topology {

namespace {

/// Reads "0-1, 0-3 x2, all x4" and joins the pairs.
class PairReader {
 public:
  PairReader(Graph& graph, const std::vector<std::uint32_t>& gpus, const NodeSpec& node, const LinkType& nvlink)
      : graph_(graph), gpus_(gpus), node_(node), nvlink_(nvlink) {}

  void run() {
    for (std::string_view rest = node_.nvlink_pairs;;) {
      const auto comma = rest.find(',');
      item(trim(rest.substr(0, comma)));
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  }

 private:
  [[noreturn]] void complain(std::string_view item, const std::string& why) const {
    throw InputError(node_.name, "nvlink_pairs: found " + in_quotes(item) + why +
                                     ", expected pairs such as '0-1, 0-3 x2' or 'all x4'");
  }

  void item(std::string_view text) {
    std::uint32_t count = 1;
    const auto cross = text.find('x');
    if (cross != std::string_view::npos) {
      count = parse_number(text.substr(cross + 1)).value_or(0);
      if (count == 0) complain(text, "");
    }
    const std::string_view pair = trim(text.substr(0, cross));
    if (pair == "all") {
      for (std::uint32_t a = 0; a < gpus_.size(); ++a) {
        for (std::uint32_t b = a + 1; b < gpus_.size(); ++b) join(text, a, b, count);
      }
      return;
    }
    const auto dash = pair.find('-');
    if (dash == std::string_view::npos) complain(text, "");
    const auto a = parse_number(pair.substr(0, dash)), b = parse_number(pair.substr(dash + 1));
    if (!a || !b) complain(text, "");
    join(text, *a, *b, count);
  }

  void join(std::string_view text, std::uint32_t a, std::uint32_t b, std::uint32_t count) {
    if (a >= gpus_.size() || b >= gpus_.size()) {
      complain(text, " of GPUs 0 to " + std::to_string(gpus_.size() - 1));
    }
    if (a == b || !joined_.insert(std::minmax(a, b)).second) complain(text, a == b ? "" : " twice");
    graph_.join(gpus_[a], gpus_[b], nvlink_, count);
  }

  Graph& graph_;
  const std::vector<std::uint32_t>& gpus_;
  const NodeSpec& node_;
  const LinkType& nvlink_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> joined_;
};

Graph build_mesh(const NodeSpec& node) {
  const LinkType& nvlink = need(node, "nvlink", node.nvlink);
  Graph graph;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  PairReader(graph, gpus, node, nvlink).run();
  return graph;
}

constexpr std::array<std::string_view, 11> kReads = {"gpus",         "sockets",      "trays",    "gpus_per_pcie_switch",
                                                     "nics",         "pcie",         "nic_pcie", "socket_link",
                                                     "socket_links", "nvlink_pairs", "nvlink"};

}  // namespace

extern const Builder mesh_builder;
constinit const Builder mesh_builder{
    .name = "mesh",
    .summary = "NVLinks between the pairs of GPUs that are listed, PCIe below",
    .source = "NVIDIA DGX-1 with Tesla V100 system architecture WP-08437-002, hybrid cube-mesh",
    .reads = kReads,
    .build = build_mesh};

}  // namespace stepcast::topology
