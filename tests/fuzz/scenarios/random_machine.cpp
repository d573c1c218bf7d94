#include "tests/fuzz/scenarios/random_machine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "language/configs/files.h"
#include "language/configs/model.h"

namespace stepcast::test {
namespace {

std::vector<std::string> precisions(const schedules::Gpu& gpu) {
  std::vector<std::string> names;
  for (const auto& [precision, rate] : gpu.peak) names.emplace_back(schedules::name(precision));
  return names;
}

KnownNode known_node(const std::string& name, language::Library& library) {
  language::Value value;
  value.text = name;
  value.library = &library;
  const language::Node file = library.expand_block(language::make_scalar(name, {}), language::node_schema(), "");
  value.node = &file;
  const language::NodeFile node = language::read_node(value);
  const bool lists_nics =
      std::ranges::find(node.spec.devices, "nic", &topology::GraphDevice::kind) != node.spec.devices.end();
  return {name, node.spec.gpus, node.spec.nics, node.spec.nics > 0 || lists_nics, precisions(node.gpu)};
}

KnownModel known_model(const std::string& name, language::Library& library) {
  const language::Node file = library.expand_block(language::make_scalar(name, {}), language::model_schema(), "");
  return {name, file.find("family")->scalar};
}

Mapping random_link(Choices& choose, const char* kind) {
  Mapping link;
  link.add("kind", kind);
  link.add("bandwidth", fmt::format("{} GB/s", choose.of({12, 25, 32, 50, 100, 400})));
  if (choose.one_in(3)) link.add("efficiency", choose.of({0.5, 0.77, 0.93}));
  if (choose.one_in(3)) link.add("latency", choose.of({"0 ps", "300 ns", "1.5 us"}));
  return link;
}

/// A graph of so many GPUs, each beside the next one.
std::pair<std::string, std::string> random_graph(Choices& choose, std::uint64_t gpus) {
  const std::string nvlink = random_link(choose, "nvlink").flow(), pcie = random_link(choose, "pcie").flow();
  std::string devices = "{name: c, kind: cpu}, {name: n, kind: nic}",
              links = fmt::format("{{from: n, to: c, link: {}}}", pcie);
  for (std::uint64_t g = 0; g < gpus; ++g) {
    devices += fmt::format(", {{name: g{}, kind: gpu}}", g);
    links += fmt::format(", {{from: g{}, to: c, link: {}}}", g, pcie);
    if (g > 0 && !choose.one_in(4))
      links += fmt::format(", {{from: g{}, to: g{}, link: {}, count: {}}}", g - 1, g, nvlink, 1 + choose.below(3));
  }
  return {'[' + devices + ']', '[' + links + ']'};
}

/// A node of one's own.
void add_own_node(Choices& choose, const ConfigNames& names, RandomMachine& machine) {
  Mapping node;
  const KnownGpu& gpu = choose.of(names.gpus);
  const std::string builder = choose.of({"nvswitch", "mesh", "pcie", "torus", "graph"});
  const std::uint64_t gpus = builder == "torus" ? 16 : choose.of({1, 2, 3, 4, 6, 8, 16});
  node.add("builder", builder);
  node.add("gpu", gpu.name);
  machine.precisions = gpu.precisions;
  machine.gpus_per_node = gpus;
  if (builder == "torus") {
    node.add("torus", choose.of({"4x4", "2x8", "2x2x4"}));
    node.add("torus_wraps", choose.one_in(2));
  } else {
    node.add("gpus", gpus);
  }
  if (builder == "graph") {
    const auto [devices, links] = random_graph(choose, gpus);
    node.add("devices", devices);
    node.add("links", links);
    node.add("nic", random_link(choose, "network"));
    machine.cluster.add("node", node);
    return;
  }
  node.add("sockets", choose.of({1, 2}));
  node.add("gpus_per_pcie_switch", choose.below(3));
  machine.nics_per_node = choose.of({1, 2, 4, 8, 0});
  node.add("nics", machine.nics_per_node);
  node.add("pcie", random_link(choose, "pcie"));
  node.add("socket_link", random_link(choose, "socket"));
  if (builder != "pcie") node.add("nvlink", random_link(choose, "nvlink"));
  if (builder == "nvswitch") {
    node.add("nvlinks_per_gpu", choose.of({6, 12, 18}));
    if (choose.one_in(4)) node.add("nvlink_sharp", true);
  }
  if (builder == "mesh") node.add("nvlink_pairs", choose.of({"all x1", "all x4", "0-1 x2, 0-2", "0-1"}));
  if (choose.one_in(4)) node.add("pcie_p2p", false);
  if (choose.one_in(4)) node.add("nvlink_forwarding", true);
  if (choose.one_in(3)) node.add("host_memory", choose.of({"64 GiB", "1 TB"}));
  if (choose.one_in(4)) node.add("socket_links", choose.of({2, 3}));
  node.add("nic", random_link(choose, "network"));
  machine.cluster.add("node", node);
}

void add_fabric(Choices& choose, const ConfigNames& names, RandomMachine& machine) {
  if (choose.one_in(2)) {
    machine.cluster.add("fabric", choose.of(names.fabrics));
    return;
  }
  Mapping fabric;
  const std::string kind =
      choose.of({"one-switch", "rail-fat-tree", "rail-only", "fat-tree", "dragonfly-plus", "torus"});
  fabric.add("kind", kind);
  if (kind == "torus") {
    const auto rows = choose.divisor(machine.nodes, machine.nodes);
    fabric.add("torus", fmt::format("{}x{}", rows, machine.nodes / rows));
  }
  const std::optional<language::Names> read = language::read_by(language::fabric_schema(), kind);
  const auto reads = [&](std::string_view key) { return std::ranges::find(*read, key) != read->end(); };
  if (reads("radix")) fabric.add("radix", choose.of({4, 8, 40, 64}));
  if (reads("levels") && choose.one_in(3)) fabric.add("levels", choose.below(4));
  if (reads("groups") && choose.one_in(3)) fabric.add("groups", choose.below(6));
  if (reads("oversubscription") && choose.one_in(3)) fabric.add("oversubscription", choose.of({1.0, 2.0, 3.5}));
  if (reads("routing") && choose.one_in(3)) {
    const bool sprays = reads("spray_efficiency") && choose.one_in(3);
    fabric.add("routing", sprays ? "spray" : "hash");
    if (sprays) fabric.add("spray_efficiency", 0.9);
    if (!sprays && choose.one_in(2)) fabric.add("seed", choose.below(100));
  }
  if (choose.one_in(4)) fabric.add("in_network_reduction", true);
  if (choose.one_in(2)) fabric.add("switch_latency", "150 ns");
  if (choose.one_in(4)) fabric.add("cable_latency", "20 ns");
  machine.cluster.add("fabric", fabric);
}

}  // namespace

ConfigNames config_names(language::Library& library) {
  ConfigNames names;
  for (const std::string& node : library.names("nodes")) names.nodes.push_back(known_node(node, library));
  const language::Node nowhere;
  language::Value whole;
  whole.node = &nowhere;
  whole.library = &library;
  for (const std::string& gpu : library.names("gpus"))
    names.gpus.push_back({gpu, precisions(language::read_gpu_named(gpu, whole))});
  for (const std::string& model : library.names("models")) names.models.push_back(known_model(model, library));
  names.fabrics = library.names("fabrics");
  names.software = library.names("software");
  if (names.nodes.empty()) throw std::runtime_error("no configs/nodes where the program was built");
  return names;
}

RandomMachine random_machine(Choices& choose, const ConfigNames& names) {
  RandomMachine machine;
  bool alone = false;
  if (choose.one_in(6)) {
    add_own_node(choose, names, machine);
  } else {
    const KnownNode& node = choose.of(names.nodes);
    machine.gpus_per_node = node.gpus;
    machine.nics_per_node = node.nics;
    machine.precisions = node.precisions;
    alone = !node.has_nics && !choose.one_in(8);
    machine.cluster.add("node", node.name);
  }
  machine.nodes = alone ? 1 : choose.of({1, 1, 1, 2, 2, 3, 4, 8, 16});
  if (!alone && machine.gpus_per_node <= 8 && choose.one_in(30)) machine.nodes = 128;
  machine.gpus = machine.nodes * machine.gpus_per_node;
  if (machine.nodes == 1 && machine.gpus_per_node > 1 && choose.one_in(3)) {
    const std::uint64_t used = 1 + choose.below(machine.gpus_per_node - 1);
    if (choose.one_in(2)) {
      machine.cluster.add("gpus", used);
    } else {
      const std::uint64_t first = choose.below(machine.gpus_per_node - used + 1);
      machine.cluster.add("allocation", fmt::format("{}-{}", first, first + used - 1));
    }
    machine.gpus = used;
  } else if (machine.nodes > 1 && choose.one_in(8)) {
    const std::uint64_t used = 1 + choose.below(machine.gpus_per_node);
    machine.cluster.add("allocation", fmt::format("\"node0-{}:0-{}\"", machine.nodes - 1, used - 1));
    machine.gpus = machine.nodes * used;
  } else {
    machine.cluster.add("nodes", machine.nodes);
  }
  if (choose.one_in(4)) add_fabric(choose, names, machine);
  if (choose.one_in(12)) machine.cluster.add("nic_bandwidth", choose.of({"100 Gbit/s", "1 GB/s"}));
  if (machine.nics_per_node > 0 && choose.one_in(12))
    machine.cluster.add("nics_per_node", choose.divisor(machine.nics_per_node, machine.nics_per_node));
  if (choose.one_in(12) && machine.gpus > 1) {
    Mapping other;
    other.add("gpu", choose.of(names.gpus).name);
    other.add("first", machine.gpus / 2);
    machine.two_kinds = true;
    machine.cluster.add("other", other);
  }
  return machine;
}

}  // namespace stepcast::test
