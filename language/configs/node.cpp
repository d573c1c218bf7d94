#include <algorithm>

#include "language/configs/files.h"
#include "language/configs/imported_gpu.h"
#include "language/core/convert.h"
#include "language/core/library.h"
#include "language/core/nearest.h"
#include "language/core/read_mapping.h"
#include "language/import/node_import.h"
#include "sim/input_error.h"
#include "topology/node_builders.h"

namespace stepcast::language {
namespace {

using topology::GraphDevice;
using topology::GraphLink;
using topology::LinkType;

constexpr std::int64_t kMost = 1024;

Names builder_names() {
  Names names;
  for (const topology::Builder* builder : topology::builders()) names.push_back(builder->name);
  for (const std::string_view import : import_builders()) names.push_back(import);
  return names;
}

/// Nothing for import_builders(): which keys may stand beside a file is for import_node to say.
std::optional<Names> keys_of_builder(std::string_view name) {
  for (const topology::Builder* builder : topology::builders())
    if (builder->name == name) return Names(builder->reads.begin(), builder->reads.end());
  return {};
}

std::uint32_t small(const Value& v) { return static_cast<std::uint32_t>(v.whole); }

const Table<GraphDevice>& device_table() {
  static const Table<GraphDevice> table("Device of a graph", "",
                                        {
                                            {{"name", text_type(), kRequired, "what links call it"},
                                             [](GraphDevice& d, const Value& v) { d.name = v.text; }},
                                            {{"kind", choice([] {
                                                return Names{"gpu", "cpu", "pcie-switch", "nvswitch", "nic"};
                                              }),
                                              kRequired, "what it is"},
                                             [](GraphDevice& d, const Value& v) { d.kind = v.text; }},
                                        });
  return table;
}

const Table<GraphLink>& graph_link_table() {
  static const Table<GraphLink> table(
      "Link of a graph", "",
      {
          {{"from", text_type(), kRequired, "a device"}, [](GraphLink& l, const Value& v) { l.from = v.text; }},
          {{"to", text_type(), kRequired, "a device"}, [](GraphLink& l, const Value& v) { l.to = v.text; }},
          {{"link", block(link_schema), kRequired, "the kind of link; both directions are built"},
           [](GraphLink& l, const Value& v) { l.type = read_link(v); }},
          {{"count", whole(1, kMost), "1", "parallel links"}, [](GraphLink& l, const Value& v) { l.count = small(v); }},
      });
  return table;
}

const Schema& device_schema() { return device_table().schema; }
const Schema& graph_link_schema() { return graph_link_table().schema; }

/// Of builder graph: both ends of a link are devices. (Who builds the graph asks the same, and knows no places.)
void check_ends(const NodeFile& node, const Value& value) {
  const Node* const links = value.node->find("links");
  if (node.spec.builder != "graph" || links == nullptr) return;
  Names names;
  for (const GraphDevice& device : node.spec.devices) names.push_back(device.name);
  for (std::size_t i = 0; i < links->items.size(); ++i)
    for (const char* const key : {"from", "to"}) {
      const Node& end = *links->items[i].find(key);
      if (std::ranges::find(names, end.scalar) == names.end())
        fail(end.place, join(value.path, "links[" + std::to_string(i) + "]." + key),
             "found " + found(end) + ", expected a device: " + one_of(end.scalar, names));
    }
}

}  // namespace

const Table<NodeFile>& node_table() {
  static const Table<NodeFile> table = [] {
    Table<NodeFile> made(
        "Node", "nodes",
        {
            {{"name", text_type(), "", "what people call it"},
             [](NodeFile& n, const Value& v) { n.spec.name = v.text; }},
            {{"builder", choice(builder_names), "nvswitch", "who turns it into a graph of devices and links"},
             [](NodeFile& n, const Value& v) { n.spec.builder = v.text; }},
            {{"file", text_type(), "", "builders nccl-xml and smi-matrix: what another program wrote of the machine"},
             [](NodeFile& n, const Value& v) { n.file = beside(v.node->place, v.text).string(); }},
            {{"gpu", block(gpu_schema), "required, or what file tells", "its GPUs"},
             [](NodeFile& n, const Value& v) {
               n.gpu = read_block(gpu_table(), v);
               n.spec.gpu = v.text.empty() ? n.gpu.name : v.text;
               if (n.gpu.name.empty()) n.gpu.name = v.text;
             }},
            {{"cpu", choice([] {
                return Names{"intel", "amd", "other"};
              }),
              "intel", "who made the CPUs: NCCL's choices depend on it"},
             [](NodeFile& n, const Value& v) { n.spec.cpu = static_cast<topology::CpuVendor>(v.choice); }},
            {{"gpus", whole(1, kMost), "8", "GPUs of one node"},
             [](NodeFile& n, const Value& v) { n.spec.gpus = small(v); }},
            {{"sockets", whole(1, kMost), "2", "CPU sockets"},
             [](NodeFile& n, const Value& v) { n.spec.sockets = small(v); }},
            {{"host_time", number(0.01, 100), "1",
              "of host work, what it takes on these CPUs over what the stack says"},
             [](NodeFile& n, const Value& v) { n.spec.host_time = v.number; }},
            {{"host_memory", positive_bytes(), "not known",
              "of its CPUs together: what there is room for off the GPUs"},
             [](NodeFile& n, const Value& v) { n.spec.host_memory = v.bytes; }},
            {{"gpus_per_pcie_switch", whole(0, kMost), "2", "0: GPUs hang off the socket directly"},
             [](NodeFile& n, const Value& v) { n.spec.gpus_per_pcie_switch = small(v); }},
            {{"nics", whole(0, kMost), "0", "network cards, spread evenly over the PCIe switches or sockets"},
             [](NodeFile& n, const Value& v) { n.spec.nics = small(v); }},
            {{"nvlinks_per_gpu", whole(0, kMost), "0", "NVLinks of one GPU"},
             [](NodeFile& n, const Value& v) { n.spec.nvlinks_per_gpu = small(v); }},
            {{"nvswitch_boards", whole(1, kMost), "1", "groups of GPUs with NVSwitches of their own"},
             [](NodeFile& n, const Value& v) { n.spec.nvswitch_boards = small(v); }},
            {{"trunk_nvlinks", whole(0, kMost), "0", "NVLinks between the NVSwitches of two boards"},
             [](NodeFile& n, const Value& v) { n.spec.trunk_nvlinks = small(v); }},
            {{"trays", whole(1, kMost), "1", "parts with sockets of their own, which only NVLink joins"},
             [](NodeFile& n, const Value& v) { n.spec.trays = small(v); }},
            {{"nvlink_pairs", text_type(), "", "NVLinks of pairs of GPUs, '0-1, 0-3 x2' or 'all x4'"},
             [](NodeFile& n, const Value& v) { n.spec.nvlink_pairs = v.text; }},
            {{"torus", text_type(), "", "GPUs along each side, '16x16' or '4x4x8'"},
             [](NodeFile& n, const Value& v) { n.spec.torus = v.text; }},
            {{"torus_wraps", flag(), "true", "false: a mesh, without the links that close the rings"},
             [](NodeFile& n, const Value& v) { n.spec.torus_wraps = v.flag; }},
            {{"nvlink_forwarding", flag(), "false", "GPUs pass on traffic of others; true of no NVLink GPU"},
             [](NodeFile& n, const Value& v) { n.spec.nvlink_forwarding = v.flag; }},
            {{"nvlink_sharp", flag(), "false",
              "its NVSwitches add up what GPUs push to them, as the algorithm nvls needs"},
             [](NodeFile& n, const Value& v) { n.spec.nvlink_sharp = v.flag; }},
            {{"pcie_p2p", flag(), "true", "false: PCIe copies between GPUs bounce through host memory"},
             [](NodeFile& n, const Value& v) { n.spec.pcie_p2p = v.flag; }},
            {{"nvlink", block(link_schema), "", "one NVLink"},
             [](NodeFile& n, const Value& v) { n.spec.nvlink = read_link(v); }},
            {{"pcie", block(link_schema), "", "the PCIe link of one device"},
             [](NodeFile& n, const Value& v) { n.spec.pcie = read_link(v); }},
            {{"nic_pcie", block(link_schema), "that of any device", "the PCIe link of a network card"},
             [](NodeFile& n, const Value& v) { n.spec.nic_pcie = read_link(v); }},
            {{"socket_link", block(link_schema), "", "between the CPU sockets"},
             [](NodeFile& n, const Value& v) { n.spec.socket_link = read_link(v); }},
            {{"socket_links", whole(1, kMost), "1",
              "such links between each two sockets, over which pairs of GPUs spread: one pair has what one carries"},
             [](NodeFile& n, const Value& v) { n.spec.socket_links = small(v); }},
            {{"nic", block(link_schema), "", "the cable of one network card"},
             [](NodeFile& n, const Value& v) { n.spec.nic = read_link(v); }},
            {{"devices", list_of_mappings("[{name: gpu0, kind: gpu}]", device_schema), "", "[{name, kind}, ...]"},
             [](NodeFile& n, const Value& v) { n.spec.devices = read_list(device_table(), v); }},
            {{"links", list_of_mappings("[{from: gpu0, to: host, link: pcie-gen4-x16}]", graph_link_schema), "",
              "[{from, to, link, count}, ...]"},
             [](NodeFile& n, const Value& v) { n.spec.links = read_list(graph_link_table(), v); }},
            {{"fabric", text_type(), "", "what usually joins such nodes: a file of configs/fabrics/"},
             [](NodeFile& n, const Value& v) { n.spec.fabric = v.text; }},
            {{"nccl", text_type(), "",
              "the stack fitted to such machines, which `collective` takes: of configs/software/"},
             [](NodeFile& n, const Value& v) { n.nccl = v.text; }},
            {{"source", text_type(), "", "where the numbers are from"},
             [](NodeFile& n, const Value& v) { n.spec.source = v.text; }},
        });
    made.schema.reader = Reader{"builder",
                                {"name", "builder", "gpu", "cpu", "host_time", "host_memory", "nvlink_forwarding",
                                 "nvlink_sharp", "pcie_p2p", "nic", "fabric", "nccl", "source", "file"},
                                keys_of_builder};
    made.schema.foreign = import_block;
    return made;
  }();
  return table;
}

namespace {

/// What the builder finds wrong with a key, at that key. What it lacks is for whoever builds a cluster of it to say.
void check_builds(const NodeFile& node, const Value& value) {
  try {
    const topology::Graph graph = topology::find_builder(node.spec).build(node.spec);
    if (node.spec.nvlink_sharp && graph.all(topology::DeviceKind::nvswitch).empty())
      throw InputError("nvlink_sharp",
                       "found 'true' on a node without NVSwitches, which are what adds up; expected false");
  } catch (const InputError& error) {
    std::string what = error.what();
    if (const std::string prefix = node.spec.name + ": "; what.starts_with(prefix)) what.erase(0, prefix.size());
    const std::string key = what.substr(0, std::min(what.find(": "), what.size()));
    if (find_key(node_schema(), key) != nullptr)
      fail(locate(*value.node, key), join(value.path, key), what.substr(key.size() + 2));
  }
}

NodeFile read_anew(const Value& value) {
  NodeFile node = read_block(node_table(), value);
  if (node.spec.name.empty()) node.spec.name = value.text;
  check_ends(node, value);
  if (std::optional<ImportedNode> imported = import_node(node.spec, node.file, value, block(link_schema))) {
    if (node.gpu.sms == 0) {
      node.gpu = find_imported_gpu(imported->gpus, value, imported->shown);
      imported->spec.gpu = node.gpu.name;
    }
    node.spec = std::move(imported->spec);
  }
  if (node.gpu.sms == 0) {
    fail(value.node->place, join(value.path, "gpu"), "missing, expected " + expected(block(gpu_schema)));
  }
  check_builds(node, value);
  if (node.gpu.compute_capability != 0) node.spec.compute_capability = node.gpu.compute_capability;
  return node;
}

}  // namespace

NodeFile read_node(const Value& value) {
  if (!value.by_name) return read_anew(value);
  return value.library->once<NodeFile>("node " + value.text + ' ' + value.node->place.file,
                                       [&] { return read_anew(value); });
}

const Schema& node_schema() { return node_table().schema; }

}  // namespace stepcast::language
