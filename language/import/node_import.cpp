#include "language/import/node_import.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "language/core/convert.h"
#include "language/core/file_text.h"
#include "language/core/nearest.h"
#include "topology/import/nccl_xml.h"
#include "topology/import/smi_matrix.h"

namespace stepcast::language {
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
topology::NodeSpec read_xml(const topology::NodeSpec& spec, std::string_view text, const Value& value,
                            const Type& link_type, const std::string& shown) {
  topology::NodeSpec read = topology::import_nccl_xml(text, shown);
  if (spec.nvlinks_per_gpu == 0 && !spec.nvlink) return read;
  const auto is_nvlink = [](const topology::GraphLink& link) { return link.type.kind == topology::LinkKind::nvlink; };
  if (std::ranges::any_of(read.links, is_nvlink)) blame(value, spec.nvlink ? "nvlink" : "nvlinks_per_gpu", kSaid);
  if (spec.nvlinks_per_gpu == 0) blame(value, "nvlinks_per_gpu", "missing, expected how many of the links nvlink");
  if (!spec.nvlink) blame(value, "nvlink", "missing, expected " + expected(link_type));
  const std::string nvswitch = "nvswitch";
  for (const topology::GraphDevice& device : read.devices) {
    if (device.kind == "gpu") read.links.push_back({device.name, nvswitch, *spec.nvlink, spec.nvlinks_per_gpu});
  }
  read.devices.push_back({nvswitch, nvswitch});
  return read;
}

topology::NodeSpec read_matrix(const topology::NodeSpec& spec, std::string_view text, const Value& value,
                               const Type& link_type, const std::string& shown) {
  const auto named = [](const std::optional<topology::LinkType>& link, const char* key) {
    return link.value_or(topology::LinkType{.name = key, .source = {}});
  };
  topology::NodeSpec read = topology::import_smi_matrix(
      text, {named(spec.nvlink, "nvlink"), named(spec.pcie, "pcie"), named(spec.socket_link, "socket_link")}, shown);
  for (const topology::GraphLink& link : read.links) {
    if (link.type.bandwidth.value > 0) continue;
    blame(value, link.type.name,
          "missing, expected " + expected(link_type) + "; " + shown + " has such links and states no speeds");
  }
  return read;
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

std::optional<ImportedNode> import_node(const topology::NodeSpec& stated, const std::string& file, const Value& value,
                                        const Type& link_type) {
  const bool matrix = stated.builder == kSmiMatrix;
  if (!matrix && stated.builder != kNcclXml) {
    if (!file.empty()) {
      blame(value, "file",
            "found beside the builder '" + stated.builder + "', expected " + one_of("", import_builders()));
    }
    return {};
  }
  if (file.empty()) blame(value, "file", "missing, expected the file that builder '" + stated.builder + "' reads");
  check_keys(value, matrix);
  std::error_code error;
  const std::string shown = shown_path(file);
  if (!std::filesystem::exists(file, error)) {
    blame(value, "file", "expected a file; there is no " + shown);
  }
  const std::string bytes = read_file(file, shown);
  const std::string_view text = checked_text(bytes, shown);
  topology::NodeSpec read =
      matrix ? read_matrix(stated, text, value, link_type, shown) : read_xml(stated, text, value, link_type, shown);
  if (read.gpus > kMostGpus) {
    blame(value, "file", "found " + std::to_string(read.gpus) + " GPUs in " + shown + ", expected at most 1024");
  }
  read.name = stated.name.empty() ? shown : stated.name;
  read.gpu = stated.gpu;
  if (stated.nic) read.nic = stated.nic;
  read.pcie_p2p = stated.pcie_p2p;
  read.nvlink_forwarding = read.nvlink_forwarding || stated.nvlink_forwarding;
  read.nvlink_sharp = read.nvlink_sharp || stated.nvlink_sharp;
  read.fabric = stated.fabric.empty() ? "one-switch" : stated.fabric;
  if (!stated.source.empty()) read.source = stated.source;
  return ImportedNode{std::move(read), matrix ? topology::XmlGpu{} : topology::identify_gpus(text, shown), shown};
}

}  // namespace stepcast::language
