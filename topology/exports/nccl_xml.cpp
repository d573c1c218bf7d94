#include "topology/exports/nccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "sim/input_error.h"
#include "topology/cluster_parts.h"
#include "topology/exports.h"
#include "topology/nccl_constants.h"

namespace stepcast::topology {

namespace {

constexpr std::string_view kAmd = "AuthenticAMD";

class Exporter {
 public:
  explicit Exporter(const Cluster& cluster) : parts_(cluster.parts()), graph_(parts_.node.graph) {
    node_ = parts_.gpus.slot(GpuId{0}).node;
    busid_.resize(graph_.devices.size());
    written_.resize(graph_.devices.size());
    for (std::size_t d = 0; d < graph_.devices.size(); ++d) {
      busid_[d] = fmt::format("{:04x}:{:02x}:00.0", d / 256, d % 256);
    }
  }

  std::string run() {
    pugi::xml_document document;
    pugi::xml_node system = document.append_child("system");
    system.append_attribute("version") = 1;
    const std::vector<std::uint32_t> cpus = graph_.all(DeviceKind::cpu);
    if (cpus.empty()) throw InputError("", "a node without a processor cannot be written as a topology of NCCL");
    for (std::uint32_t i = 0; i < cpus.size(); ++i) add_cpu(system, cpus[i], i);
    std::ostringstream out;
    document.save(out, "  ");
    return out.str();
  }

 private:
  void add_cpu(pugi::xml_node& system, std::uint32_t device, std::uint32_t number) {
    pugi::xml_node cpu = system.append_child("cpu");
    double payload = kSockets.front().payload;
    for (const Edge& edge : graph_.edges) {
      if (edge.from == device && edge.kind == LinkKind::socket) payload = edge.bandwidth.value / 1e9;
    }
    cpu.append_attribute("numaid") = number;
    if (parts_.cpu == CpuVendor::other)
      name_other_cpu(cpu);
    else
      name_x86(cpu, payload);
    written_[device] = true;
    add_below(cpu, device);
  }

  /// A vendor that is not said is Intel; of an Intel node whose sockets carry what AMD's do the XML says AMD, since it
  /// states no rate.
  void name_x86(pugi::xml_node& cpu, double payload) const {
    const auto off = [&](const SocketLink& one) {
      return parts_.cpu == CpuVendor::amd && one.vendor != kAmd ? INFINITY : std::abs(one.payload - payload);
    };
    const SocketLink* nearest = std::ranges::min_element(kSockets, {}, off);
    cpu.append_attribute("arch") = "x86_64";
    cpu.append_attribute("vendor") = std::string(nearest->vendor).c_str();
    cpu.append_attribute("familyid") = nearest->vendor == kAmd ? 175 : 6;
    cpu.append_attribute("modelid") = nearest->model;
  }

  /// Of processors that are not x86 NCCL asks for the architecture alone. GPUs up to Volta stand beside POWER, later
  /// ones beside Arm.
  void name_other_cpu(pugi::xml_node& cpu) const {
    constexpr std::uint32_t kAmpere = 80;
    cpu.append_attribute("arch") = parts_.compute_capability < kAmpere ? "ppc64" : "arm64";
  }

  /// Devices that PCIe or C2C joins to one that is written, each once.
  void add_below(pugi::xml_node& parent, std::uint32_t device) {
    for (const Edge& edge : graph_.edges) {
      const bool of_host = edge.kind == LinkKind::pcie || edge.kind == LinkKind::c2c;
      if (edge.from != device || !of_host || written_[edge.to]) continue;
      const DeviceKind kind = graph_.devices[edge.to].kind;
      if (kind == DeviceKind::cpu || (kind == DeviceKind::gpu && !used(edge.to))) continue;
      written_[edge.to] = true;
      pugi::xml_node pci = parent.append_child("pci");
      pci.append_attribute("busid") = busid_[edge.to].c_str();
      pci.append_attribute("class") = kind == DeviceKind::gpu   ? "0x030200"
                                      : kind == DeviceKind::nic ? "0x020700"
                                                                : "0x060400";
      name_link(pci, edge.bandwidth.value / 1e9);
      if (kind == DeviceKind::gpu) add_gpu(pci, edge.to);
      if (kind == DeviceKind::nic) add_nic(pci, edge.to);
      if (kind == DeviceKind::pcie_switch) add_below(pci, edge.to);
    }
  }

  static void name_link(pugi::xml_node& pci, double payload) {
    double least = INFINITY, speed = 8;
    int width = 16;
    for (const double transfers : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0}) {
      for (const int lanes : {32, 16, 8, 4, 2, 1}) {
        // Sixteen lanes are what people have: among equals they win.
        const double off =
            std::abs(pcie_lane(transfers) * lanes * kPciePayload / payload - 1) + (lanes == 16 ? 0 : 0.02);
        if (off < least) {
          least = off;
          speed = transfers;
          width = lanes;
        }
      }
    }
    pci.append_attribute("link_speed") = fmt::format("{:.1f} GT/s PCIe", speed).c_str();
    pci.append_attribute("link_width") = width;
  }

  std::uint32_t number_of(const std::vector<std::uint32_t>& list, std::uint32_t device) const {
    return static_cast<std::uint32_t>(std::ranges::find(list, device) - list.begin());
  }
  bool used(std::uint32_t device) const { return parts_.gpus.used(node_, number_of(parts_.node.gpus, device)); }

  /// GPUs in use count from 0.
  std::uint32_t dev_of(std::uint32_t device) const {
    std::uint32_t dev = 0;
    for (const std::uint32_t gpu : parts_.node.gpus) {
      if (gpu == device) break;
      dev += used(gpu) ? 1u : 0u;
    }
    return dev;
  }

  /// The compute capability of a GPU with these links to others, times ten; 0: its links are none of NVIDIA's, but
  /// AMD's (GPUs pass on traffic over them, or they carry what no NVLink does), and the XML is in RCCL's dialect. A
  /// capability that NVLinks of another rate contradict is one that nobody said.
  std::uint32_t sm_of(const std::vector<Edge>& links) const {
    if (links.empty()) return parts_.compute_capability;
    if (parts_.node.nvlink_forwarding) return 0;
    const double payload = links.front().bandwidth.value / 1e9 / links.front().count;
    const auto off = [&](const NvlinkGeneration& one) { return std::abs(one.payload / payload - 1); };
    const NvlinkGeneration* own = &kNvlinks.front();
    for (const NvlinkGeneration& one : kNvlinks)
      if (one.sm <= parts_.compute_capability) own = &one;
    constexpr double kOwn = 0.3, kNear = 0.1;  // measured payloads differ from NCCL's
    if (off(*own) < kOwn) return parts_.compute_capability;
    const NvlinkGeneration* nearest = std::ranges::min_element(kNvlinks, {}, off);
    return off(*nearest) < kNear ? nearest->sm : 0;
  }

  void add_gpu(pugi::xml_node& pci, std::uint32_t device) {
    pugi::xml_node gpu = pci.append_child("gpu");
    const std::uint32_t dev = dev_of(device);
    std::vector<Edge> links;
    for (const Edge& edge : graph_.edges) {
      const bool gone = graph_.devices[edge.to].kind == DeviceKind::gpu && !used(edge.to);
      if (edge.from == device && edge.kind == LinkKind::nvlink && !gone) links.push_back(edge);
    }
    gpu.append_attribute("dev") = dev;
    const std::uint32_t sm = sm_of(links);
    if (sm != 0) gpu.append_attribute("sm") = sm;
    gpu.append_attribute("rank") = dev;
    gpu.append_attribute("gdr") = 1;
    for (const Edge& edge : links) {
      const bool to_switch = graph_.devices[edge.to].kind == DeviceKind::nvswitch;
      pugi::xml_node link = gpu.append_child(sm == 0 ? "xgmi" : "nvlink");
      link.append_attribute("target") = busid_[edge.to].c_str();
      link.append_attribute("count") = edge.count;
      link.append_attribute("tclass") = to_switch ? "0x068000" : sm == 0 ? "0x038000" : "0x030200";
    }
  }

  void add_nic(pugi::xml_node& pci, std::uint32_t device) {
    const std::uint32_t number = number_of(parts_.node.nics, device);
    pugi::xml_node net = pci.append_child("nic").append_child("net");
    net.append_attribute("name") = fmt::format("nic {}", number).c_str();
    net.append_attribute("dev") = number;
    if (parts_.fabric) {
      net.append_attribute("speed") = static_cast<unsigned>(std::lround(parts_.port.value / 0.98 * 8 / 1e6));
    }
    net.append_attribute("port") = 1;
    net.append_attribute("gdr") = 1;
  }

  const ClusterParts& parts_;
  const Graph& graph_;
  std::uint32_t node_ = 0;
  std::vector<std::string> busid_;  ///< [device]
  std::vector<bool> written_;       ///< likewise
};

}  // namespace

std::string to_nccl_xml(const Cluster& cluster) { return Exporter(cluster).run(); }

extern const Export nccl_xml_export;
constinit const Export nccl_xml_export{
    .name = "nccl-xml", .summary = "one node as NCCL_TOPO_FILE", .one_node = true, .write = to_nccl_xml};

}  // namespace stepcast::topology
