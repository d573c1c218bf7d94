#include "app/read/node_import.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/read/file_text.h"
#include "app/read/library.h"
#include "app/read/nearest.h"
#include "topology/import/nccl_xml.h"
#include "topology/import/smi_matrix.h"

namespace stepcast::app {
namespace {

constexpr std::string_view kNcclXml = "nccl-xml", kSmiMatrix = "smi-matrix";
constexpr std::array kBeside = {"name",     "builder",           "file",         "gpu",   "nic", "fabric",
                                "pcie_p2p", "nvlink_forwarding", "nvlink_sharp", "source"};
constexpr std::array kBesideXml = {"nvlinks_per_gpu", "nvlink"};         // NCCL finds NVLinks itself
constexpr std::array kBesideMatrix = {"nvlink", "pcie", "socket_link"};  // a matrix names links, not their speeds
constexpr std::uint32_t kMostGpus = 1024;

[[noreturn]] void blame(const Value& value, std::string_view key, const std::string& what) {
  fail(locate(*value.node, key), join(value.path, key), what);
}

constexpr const char* kSaid = "found beside a file that says it, expected the key left out";

void check_keys(const Value& value, bool matrix) {
  const auto in = [](const auto& keys, const std::string& key) { return std::ranges::find(keys, key) != keys.end(); };
  for (const Entry& entry : value.node->entries) {
    const bool fits = in(kBeside, entry.key) || (matrix ? in(kBesideMatrix, entry.key) : in(kBesideXml, entry.key));
    if (!fits) fail(entry.place, join(value.path, entry.key), kSaid);
  }
}

/// With the NVLinks that the keys name, where the file has none: from every GPU to NVSwitches.
topology::NodeSpec read_xml(const NodeFile& node, std::string_view text, const Value& value, const std::string& shown) {
  const topology::NodeSpec& spec = node.spec;
  topology::NodeSpec read = topology::import_nccl_xml(text, shown);
  if (spec.nvlinks_per_gpu == 0 && !spec.nvlink) return read;
  const auto is_nvlink = [](const topology::GraphLink& link) { return link.type.kind == topology::LinkKind::nvlink; };
  if (std::ranges::any_of(read.links, is_nvlink)) blame(value, spec.nvlink ? "nvlink" : "nvlinks_per_gpu", kSaid);
  if (spec.nvlinks_per_gpu == 0) blame(value, "nvlinks_per_gpu", "missing, expected how many of the links nvlink");
  if (!spec.nvlink) blame(value, "nvlink", "missing, expected " + expected(block(link_schema)));
  const std::string nvswitch = "nvswitch";
  for (const topology::GraphDevice& device : read.devices) {
    if (device.kind == "gpu") read.links.push_back({device.name, nvswitch, *spec.nvlink, spec.nvlinks_per_gpu});
  }
  read.devices.push_back({nvswitch, nvswitch});
  return read;
}

topology::NodeSpec read_matrix(const NodeFile& node, std::string_view text, const Value& value,
                               const std::string& shown) {
  const auto named = [](const std::optional<topology::LinkType>& link, const char* key) {
    return link.value_or(topology::LinkType{.name = key, .source = {}});
  };
  const topology::NodeSpec& spec = node.spec;
  topology::NodeSpec read = topology::import_smi_matrix(
      text, {named(spec.nvlink, "nvlink"), named(spec.pcie, "pcie"), named(spec.socket_link, "socket_link")}, shown);
  for (const topology::GraphLink& link : read.links) {
    if (link.type.bandwidth.value > 0) continue;
    blame(value, link.type.name,
          "missing, expected " + expected(block(link_schema)) + "; " + shown + " has such links and states no speeds");
  }
  return read;
}

/// By the PCI device id where both name one, else by the compute capability.
bool fits(const schedules::Gpu& gpu, const topology::XmlGpu& said) {
  if (!gpu.pci_device.empty() && !said.pci_device.empty()) return gpu.pci_device == said.pci_device;
  return said.compute_capability != 0 && gpu.compute_capability == said.compute_capability;
}

void name_gpu(NodeFile& node, const topology::XmlGpu& said, const Value& value, const std::string& shown) {
  std::vector<schedules::Gpu> found;
  for (const std::string& name : value.library->names("gpus")) {
    schedules::Gpu gpu = read_gpu_named(name, value);
    if (fits(gpu, said)) found.push_back(std::move(gpu));
  }
  if (found.size() == 1) {
    node.gpu = std::move(found.front());
    node.spec.gpu = node.gpu.name;
    return;
  }
  std::string what = "missing, expected a file of configs/gpus/ by its name: " + shown;
  if (!said.pci_device.empty()) what += " has GPUs of PCI device " + said.pci_device;
  if (said.compute_capability != 0) {
    what += (said.pci_device.empty() ? " has GPUs of" : " and") + std::string(" compute capability ") +
            std::to_string(said.compute_capability / 10) + '.' + std::to_string(said.compute_capability % 10);
  }
  if (said.pci_device.empty() && said.compute_capability == 0) what += " does not say which";
  for (std::size_t i = 0; i < found.size(); ++i) {
    what += (i == 0 ? ", which may be " : i + 1 == found.size() ? " or " : ", ") + found[i].name;
  }
  blame(value, "gpu", what);
}

}  // namespace

Names import_builders() { return {kNcclXml, kSmiMatrix}; }

std::optional<Node> import_block(const Node& name) {
  const bool matrix = name.scalar.ends_with(".txt");
  if (!matrix && !name.scalar.ends_with(".xml")) return {};
  Node block = make_mapping(name.place);
  block.entries.push_back(
      {"builder", name.place, make_scalar(std::string(matrix ? kSmiMatrix : kNcclXml), name.place)});
  block.entries.push_back({"file", name.place, name});
  return block;
}

void import_node(NodeFile& node, const Value& value) {
  topology::NodeSpec& spec = node.spec;
  const bool matrix = spec.builder == kSmiMatrix;
  if (!matrix && spec.builder != kNcclXml) {
    if (!node.file.empty()) {
      blame(value, "file",
            "found beside the builder '" + spec.builder + "', expected " + one_of("", import_builders()));
    }
    return;
  }
  if (node.file.empty()) blame(value, "file", "missing, expected the file that builder '" + spec.builder + "' reads");
  check_keys(value, matrix);
  std::error_code error;
  const std::string shown = shown_path(node.file);
  if (!std::filesystem::exists(node.file, error)) {
    blame(value, "file", "expected a file; there is no " + shown);
  }
  const std::string bytes = read_file(node.file, shown);
  const std::string_view text = checked_text(bytes, shown);
  topology::NodeSpec read = matrix ? read_matrix(node, text, value, shown) : read_xml(node, text, value, shown);
  if (read.gpus > kMostGpus) {
    blame(value, "file", "found " + std::to_string(read.gpus) + " GPUs in " + shown + ", expected at most 1024");
  }
  if (node.gpu.sms == 0)
    name_gpu(node, matrix ? topology::XmlGpu{} : topology::identify_gpus(text, shown), value, shown);
  read.name = spec.name.empty() ? shown : spec.name;
  read.gpu = spec.gpu;
  if (spec.nic) read.nic = spec.nic;
  read.pcie_p2p = spec.pcie_p2p;
  read.nvlink_forwarding = read.nvlink_forwarding || spec.nvlink_forwarding;
  read.nvlink_sharp = read.nvlink_sharp || spec.nvlink_sharp;
  read.fabric = spec.fabric.empty() ? "one-switch" : spec.fabric;
  if (!spec.source.empty()) read.source = spec.source;
  spec = std::move(read);
}

}  // namespace stepcast::app
