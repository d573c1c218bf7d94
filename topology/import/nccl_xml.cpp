#include "topology/import/nccl_xml.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <utility>
#include <vector>

#include "sim/input_error.h"
#include "topology/nccl_constants.h"

namespace stepcast::topology {

namespace {

constexpr double kGiga = 1e9;

LinkType pcie_link(const pugi::xml_node& pci) {
  // "16.0 GT/s PCIe" and 16; a virtual machine states neither, and NCCL takes Gen3 x16.
  double speed = std::strtod(pci.attribute("link_speed").as_string(), nullptr);
  double width = pci.attribute("link_width").as_double();
  if (!(speed > 0 && speed <= 128)) speed = 8;
  if (!(width > 0 && width <= 32)) width = 16;
  const std::int64_t ns = speed >= 32 ? 115 : speed >= 16 ? 105 : 150;  // configs/links/pcie-*.yaml
  return {"pcie",       LinkKind::pcie,  Bandwidth{pcie_lane(speed) * width * kGiga},
          kPciePayload, nanoseconds(ns), "link_speed, link_width"};
}

LinkType nvlink_of(std::uint32_t sm) {
  const NvlinkGeneration* found = &kNvlinks.front();
  for (const NvlinkGeneration& one : kNvlinks) {
    if (one.sm <= sm) found = &one;
  }
  return {"nvlink",
          LinkKind::nvlink,
          Bandwidth{found->data_sheet * kGiga},
          found->payload / found->data_sheet,
          nanoseconds(300),
          "NCCL src/graph/topo.h"};
}

LinkType xgmi_link() {
  return {"xgmi", LinkKind::nvlink, Bandwidth{50 * kGiga}, 0.75, nanoseconds(300), "configs/links/xgmi-3.yaml"};
}

LinkType socket_link(const pugi::xml_node& cpu) {
  const std::string_view vendor = cpu.attribute("vendor").as_string(), arch = cpu.attribute("arch").as_string();
  double payload = arch == "ppc64" ? 32 : 6;
  const auto model = cpu.attribute("modelid").as_uint();
  for (const SocketLink& one : kSockets) {
    if (one.vendor != vendor || (one.model != 0 && one.model != model)) continue;
    payload = one.payload;
    break;
  }
  return {"socket", LinkKind::socket, Bandwidth{payload * kGiga}, 1.0, nanoseconds(100), "NCCL src/graph/topo.h"};
}

bool is_gpu(const pugi::xml_node& pci) {
  const std::string_view type = pci.attribute("class").as_string();
  return pci.child("gpu") || type.starts_with("0x0302") || type.starts_with("0x0300") || type.starts_with("0x0380");
}

class Importer {
 public:
  explicit Importer(const std::string& place) : place_(place) {
    node_.name = place;
    node_.builder = "graph";
    node_.sockets = 0;
  }

  NodeSpec run(const pugi::xml_node& system) {
    for (const pugi::xml_node& cpu : system.children("cpu")) add_cpu(cpu);
    if (gpus_.empty()) throw InputError(place_, "found no GPU in <system>");
    number_gpus();
    for (const Gpu& gpu : gpus_) add_nvlinks(gpu);
    add_nic_type();
    node_.gpus = static_cast<std::uint32_t>(gpus_.size());
    node_.nics = nics_;
    node_.source = "NCCL topology file " + place_;
    return std::move(node_);
  }

 private:
  struct Gpu {
    std::string name, busid;
    pugi::xml_node xml;  ///< <gpu>; null in a skeleton
  };

  void add_cpu(const pugi::xml_node& cpu) {
    const std::string name = fresh("cpu " + std::string(cpu.attribute("numaid").as_string("0")));
    for (const auto& [other, type] : sockets_) {
      const LinkType own = socket_link(cpu);
      join(other, name, own.bandwidth < type.bandwidth ? own : type, 1);
    }
    node_.devices.push_back({name, "cpu"});
    sockets_.emplace_back(name, socket_link(cpu));
    ++node_.sockets;
    children(cpu, name);
  }

  void children(const pugi::xml_node& parent, const std::string& parent_name) {
    for (const pugi::xml_node& child : parent.children()) {
      if (std::strcmp(child.name(), "pci") == 0) add_pci(child, parent_name);
      if (std::strcmp(child.name(), "nic") == 0) add_nets(child, parent_name, pcie_link({}));
    }
  }

  void add_pci(const pugi::xml_node& pci, const std::string& parent) {
    const std::string_view type = pci.attribute("class").as_string();
    const LinkType link = pcie_link(pci);
    const pugi::xml_node gpu = pci.child("gpu"), nic = pci.child("nic");
    if (is_gpu(pci)) {
      const std::string name = "gpu of " + std::string(pci.attribute("busid").as_string());
      gpus_.push_back({name, pci.attribute("busid").as_string(), gpu});
      pending_.push_back({name, parent, link});
    } else if (nic) {
      add_nets(nic, parent, link);
    } else if (type.starts_with("0x0200") || type.starts_with("0x0207")) {
      add_nic(fresh("nic " + std::to_string(nics_)), parent, link);
    } else if (type.starts_with("0x0604")) {
      const std::string name = fresh("pcie switch " + std::to_string(switches_++));
      node_.devices.push_back({name, "pcie-switch"});
      join(parent, name, link, 1);
      children(pci, name);
    }
  }

  /// Ports of one card share its PCIe link.
  void add_nets(const pugi::xml_node& nic, std::string parent, const LinkType& link) {
    const auto nets = nic.children("net");
    if (std::distance(nets.begin(), nets.end()) > 1) {
      const std::string card = fresh("card " + std::to_string(cards_++));
      node_.devices.push_back({card, "pcie-switch"});
      join(parent, card, link, 1);
      parent = card;
    }
    for (const pugi::xml_node& net : nets) {
      add_nic(fresh(net.attribute("name").as_string("nic")), parent, link);
      if (const std::uint32_t speed = net.attribute("speed").as_uint(); speed > 0) ++speeds_[speed];
    }
  }

  void add_nic(const std::string& name, const std::string& parent, const LinkType& link) {
    node_.devices.push_back({name, "nic"});
    join(parent, name, link, 1);
    ++nics_;
  }

  /// GPUs become devices in the order of `dev`.
  void number_gpus() {
    const bool numbered = std::ranges::all_of(gpus_, [](const Gpu& gpu) { return gpu.xml.attribute("dev"); });
    if (numbered) {
      std::ranges::stable_sort(gpus_, {}, [](const Gpu& gpu) { return gpu.xml.attribute("dev").as_uint(); });
    }
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::string name = "gpu " + std::to_string(i);
      if (!renamed.emplace(gpus_[i].name, name).second) {
        throw InputError(place_, "busid '" + gpus_[i].busid + "' is listed twice");
      }
      gpus_[i].name = name;
      node_.devices.push_back({name, "gpu"});
    }
    for (const GraphLink& link : pending_links()) join(link.from, renamed.at(link.to), link.type, 1);
  }

  void add_nvlinks(const Gpu& gpu) {
    const std::uint32_t sm = gpu.xml.attribute("sm").as_uint();
    std::uint32_t to_switch = 0;
    std::map<std::string, std::uint32_t> to_gpu;
    for (const pugi::xml_node& link : gpu.xml.children()) {
      const bool xgmi = std::strcmp(link.name(), "xgmi") == 0;
      if (!xgmi && std::strcmp(link.name(), "nvlink") != 0) continue;
      const std::uint32_t count = link.attribute("count").as_uint(1);
      if (xgmi) node_.nvlink_forwarding = true;
      if (std::string_view(link.attribute("tclass").as_string()).starts_with("0x0680")) {
        to_switch += count;
        continue;
      }
      const std::string target = link.attribute("target").as_string();
      const auto peer = std::ranges::find(gpus_, target, &Gpu::busid);
      if (peer != gpus_.end() && peer->name != gpu.name) to_gpu[peer->name] += count;
    }
    const LinkType type = node_.nvlink_forwarding ? xgmi_link() : nvlink_of(sm);
    for (const auto& [peer, count] : to_gpu) {
      if (joined_.insert(std::minmax(gpu.name, peer)).second) join(gpu.name, peer, type, count);
    }
    if (to_switch == 0) return;
    if (sm >= kFirstSmOfNvlinkSharp) node_.nvlink_sharp = true;
    if (used_.insert("nvswitch").second) node_.devices.push_back({"nvswitch", "nvswitch"});
    join(gpu.name, "nvswitch", type, to_switch);
  }

  void add_nic_type() {
    std::pair<std::uint32_t, std::uint32_t> commonest{0, 0};  // how often, Mb/s
    for (const auto& [speed, times] : speeds_) commonest = std::max(commonest, {times, speed});
    if (commonest.first == 0) return;
    node_.nic = LinkType{"net", LinkKind::network, Bandwidth{commonest.second * 1e6 / 8},
                         0.98,  nanoseconds(300),  "speed of <net>; the rest as configs/links/infiniband-ndr.yaml"};
  }

  struct Pending {
    std::string gpu, parent;
    LinkType link;
  };
  std::vector<GraphLink> pending_links() const {
    std::vector<GraphLink> links;
    for (const Pending& one : pending_) links.push_back({one.parent, one.gpu, one.link, 1});
    return links;
  }

  /// A name that no device has yet.
  std::string fresh(const std::string& name) {
    std::string chosen = name;
    for (int i = 2; !used_.insert(chosen).second; ++i) chosen = name + " (" + std::to_string(i) + ")";
    return chosen;
  }
  void join(const std::string& a, const std::string& b, const LinkType& type, std::uint32_t count) {
    node_.links.push_back({a, b, type, std::max(count, 1u)});
  }

  const std::string& place_;
  NodeSpec node_;
  std::vector<Gpu> gpus_;
  std::vector<Pending> pending_;  ///< PCIe links of GPUs, before GPUs have their numbers
  std::vector<std::pair<std::string, LinkType>> sockets_;
  std::set<std::string> used_;
  std::set<std::pair<std::string, std::string>> joined_;
  std::map<std::uint32_t, std::uint32_t> speeds_;  ///< Mb/s: how often
  std::uint32_t nics_ = 0, switches_ = 0, cards_ = 0;
};

/// Parses into `document`, which has to outlive what is returned.
pugi::xml_node system_of(pugi::xml_document& document, std::string_view text, const std::string& place) {
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    throw InputError(place, "no XML at byte " + std::to_string(parsed.offset) + ": " + parsed.description());
  }
  if (document.child("graphs")) {
    throw InputError(place, "found <graphs>, the rings and trees of NCCL_GRAPH_FILE; expected <system>, a topology");
  }
  const pugi::xml_node system = document.child("system");
  if (!system) {
    throw InputError(place, "found <" + std::string(document.document_element().name()) +
                                ">, expected <system>, a topology of NCCL");
  }
  return system;
}

/// Calls visit(<pci> of a GPU) for all below.
template <class Visit>
void each_gpu(const pugi::xml_node& parent, Visit visit) {
  for (const pugi::xml_node& pci : parent.children("pci")) {
    if (is_gpu(pci)) {
      visit(pci);
    } else {
      each_gpu(pci, visit);
    }
  }
}

}  // namespace

NodeSpec import_nccl_xml(std::string_view text, const std::string& place) {
  pugi::xml_document document;
  return Importer(place).run(system_of(document, text, place));
}

XmlGpu identify_gpus(std::string_view text, const std::string& place) {
  pugi::xml_document document;
  std::set<std::string> devices;
  std::set<std::uint32_t> capabilities;
  for (const pugi::xml_node& cpu : system_of(document, text, place).children("cpu")) {
    each_gpu(cpu, [&](const pugi::xml_node& pci) {
      const pugi::xml_node gpu = pci.child("gpu");
      devices.insert(pci.attribute("device").as_string());
      capabilities.insert(gpu.attribute("gcn") ? 0 : gpu.attribute("sm").as_uint());
    });
  }
  XmlGpu all;
  if (devices.size() == 1) all.pci_device = *devices.begin();
  if (capabilities.size() == 1) all.compute_capability = *capabilities.begin();
  return all;
}

}  // namespace stepcast::topology
