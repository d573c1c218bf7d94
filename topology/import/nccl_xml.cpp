#include "topology/import/nccl_xml.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <utility>
#include <vector>

#include "sim/input_error.h"
#include "topology/nccl_constants.h"
#include "topology/text.h"

namespace stepcast::topology {

namespace {

constexpr double kGiga = 1e9;

// What no machine comes near. Everything below is at most quadratic in the processors and linear in the rest.
constexpr int kDeepest = 32;
constexpr std::size_t kMostElements = 100'000, kMostCpus = 64, kMostGpus = 1024, kMostNics = 1024, kMostSwitches = 1024;
constexpr std::uint32_t kMostLinks = 1024;  // side by side
constexpr std::size_t kLongestValue = 256;  // names of devices are made of values, and links hold copies of names

/// A file's text and the tree that was read from it.
class Source {
 public:
  /// The place of <system>, whose depth, elements and values were found to be within the limits.
  Source(std::string_view text, const std::string& place) : text_(text), place_(place) {
    const pugi::xml_parse_result parsed = document_.load_buffer(text.data(), text.size());
    if (!parsed) {
      throw InputError(place_at(parsed.offset), std::string("found no XML: ") + parsed.description());
    }
    SizeLimits shape(*this);
    document_.traverse(shape);
    if (document_.child("graphs")) {
      throw InputError(place_, "found <graphs>, the rings and trees of NCCL_GRAPH_FILE; expected <system>, a topology");
    }
    if (system()) return;
    throw InputError(place_, "found <" + std::string(document_.document_element().name()).substr(0, kLongestValue) +
                                 ">, expected <system>, a topology of NCCL");
  }

  pugi::xml_node system() const { return document_.child("system"); }
  const std::string& place() const { return place_; }

  /// Complains with file:line:column of the element.
  [[noreturn]] void fail(const pugi::xml_node& element, const std::string& what) const {
    throw InputError(place_at(element.offset_debug() - 1), what);
  }

 private:
  /// file:line:column of a byte.
  std::string place_at(std::ptrdiff_t byte) const {
    const auto end = std::clamp<std::ptrdiff_t>(byte, 0, std::ssize(text_));
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(end));
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return place_ + ":" + std::to_string(line) + ":" + std::to_string(column);
  }

  struct SizeLimits : pugi::xml_tree_walker {
    explicit SizeLimits(const Source& from) : source(from) {}
    bool for_each(pugi::xml_node& node) override {
      if (depth() >= kDeepest) source.fail(node, "found more than 32 elements inside each other, expected fewer");
      if (++elements > kMostElements) source.fail(node, "found more than 100000 elements, expected fewer");
      for (const pugi::xml_attribute& attribute : node.attributes()) {
        const std::size_t size = std::strlen(attribute.value());
        if (size <= kLongestValue) continue;
        source.fail(node, "found a value of " + std::to_string(size) + " characters, expected at most 256");
      }
      return true;
    }
    const Source& source;
    std::size_t elements = 0;
  };

  std::string_view text_;
  const std::string& place_;
  pugi::xml_document document_;
};

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
  double payload = arch == "ppc64" ? kPower9Sockets : kArmSockets;
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

class XmlImporter {
 public:
  explicit XmlImporter(const Source& source) : source_(source) {
    node_.name = source.place();
    node_.builder = "graph";
    node_.sockets = 0;
  }

  NodeSpec run() {
    for (const pugi::xml_node& cpu : source_.system().children("cpu")) add_cpu(cpu);
    if (gpus_.empty()) throw InputError(source_.place(), "found no GPU in <system>");
    number_gpus();
    for (const GpuElement& gpu : gpus_) add_nvlinks(gpu);
    add_nic_type();
    node_.gpus = static_cast<std::uint32_t>(gpus_.size());
    node_.nics = nics_;
    node_.source = "NCCL topology file " + source_.place();
    return std::move(node_);
  }

 private:
  struct GpuElement {
    std::string name, busid;
    pugi::xml_node xml;  ///< <gpu>; null in a skeleton
  };

  void add_cpu(const pugi::xml_node& cpu) {
    limit(sockets_.size(), kMostCpus, "processors", cpu);
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
      limit(gpus_.size(), kMostGpus, "GPUs", pci);
      const std::string name = "gpu of " + std::string(pci.attribute("busid").as_string());
      gpus_.push_back({name, pci.attribute("busid").as_string(), gpu});
      pending_.push_back({name, parent, link});
    } else if (nic) {
      add_nets(nic, parent, link);
    } else if (type.starts_with("0x0200") || type.starts_with("0x0207")) {
      add_nic(pci, fresh("nic " + std::to_string(nics_)), parent, link);
    } else if (type.starts_with("0x0604")) {
      limit(switches_, kMostSwitches, "PCIe switches", pci);
      const std::string name = fresh("pcie switch " + std::to_string(switches_++));
      node_.devices.push_back({name, "pcie-switch"});
      join(parent, name, link, 1);
      children(pci, name);
    }
  }

  /// Ports of one card share its PCIe link.
  void add_nets(const pugi::xml_node& nic, std::string parent, const LinkType& link) {
    const auto nets = nic.children("net");
    limit(cards_, kMostNics, "network cards", nic);
    if (std::distance(nets.begin(), nets.end()) > 1) {
      const std::string card = fresh("card " + std::to_string(cards_++));
      node_.devices.push_back({card, "pcie-switch"});
      join(parent, card, link, 1);
      parent = card;
    }
    for (const pugi::xml_node& net : nets) {
      add_nic(net, fresh(net.attribute("name").as_string("nic")), parent, link);
      if (const std::uint32_t speed = net.attribute("speed").as_uint(); speed > 0) ++speeds_[speed];
    }
  }

  void add_nic(const pugi::xml_node& element, const std::string& name, const std::string& parent,
               const LinkType& link) {
    limit(nics_, kMostNics, "network cards", element);
    node_.devices.push_back({name, "nic"});
    join(parent, name, link, 1);
    ++nics_;
  }

  /// GPUs become devices in the order of `dev`.
  void number_gpus() {
    const bool numbered = std::ranges::all_of(gpus_, [](const GpuElement& gpu) { return gpu.xml.attribute("dev"); });
    if (numbered) {
      std::ranges::stable_sort(gpus_, {}, [](const GpuElement& gpu) { return gpu.xml.attribute("dev").as_uint(); });
    }
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::string name = "gpu " + std::to_string(i);
      if (!renamed.emplace(gpus_[i].name, name).second) {
        throw InputError(source_.place(), "busid '" + gpus_[i].busid + "' is listed twice");
      }
      gpus_[i].name = name;
      named_.emplace(gpus_[i].busid, name);
      node_.devices.push_back({name, "gpu"});
    }
    for (const GraphLink& link : pending_links()) join(link.from, renamed.at(link.to), link.type, 1);
  }

  void add_nvlinks(const GpuElement& gpu) {
    const std::uint32_t sm = gpu.xml.attribute("sm").as_uint();
    std::uint32_t to_switch = 0;
    std::map<std::string, std::uint32_t> to_gpu;
    for (const pugi::xml_node& link : gpu.xml.children()) {
      const bool xgmi = std::strcmp(link.name(), "xgmi") == 0;
      if (!xgmi && std::strcmp(link.name(), "nvlink") != 0) continue;
      const std::uint32_t count = links_side_by_side(link);
      if (xgmi) node_.nvlink_forwarding = true;
      if (std::string_view(link.attribute("tclass").as_string()).starts_with("0x0680")) {
        to_switch += count;
        continue;
      }
      const auto peer = named_.find(link.attribute("target").as_string());
      if (peer != named_.end() && peer->second != gpu.name) to_gpu[peer->second] += count;
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

  std::uint32_t links_side_by_side(const pugi::xml_node& link) const {
    const std::string_view said = link.attribute("count").as_string("1");
    const std::optional<std::uint32_t> count = parse_number(said);
    if (count && *count <= kMostLinks) return *count;
    source_.fail(link, "count: found '" + std::string(said) + "', expected a whole number of at most 1024");
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
    std::uint32_t& next = next_.try_emplace(name, 2).first->second;
    while (!used_.insert(chosen).second) chosen = name + " (" + std::to_string(next++) + ")";
    return chosen;
  }
  void join(const std::string& a, const std::string& b, const LinkType& type, std::uint32_t count) {
    node_.links.push_back({a, b, type, std::max(count, 1u)});
  }

  /// Complains of `element` where there are `most` of its kind already.
  void limit(std::size_t so_far, std::size_t most, const char* kind, const pugi::xml_node& element) const {
    if (so_far < most) return;
    source_.fail(element, "found more than " + std::to_string(most) + " " + kind + ", expected fewer");
  }

  const Source& source_;
  NodeSpec node_;
  std::vector<GpuElement> gpus_;
  std::vector<Pending> pending_;  ///< PCIe links of GPUs, before GPUs have their numbers
  std::vector<std::pair<std::string, LinkType>> sockets_;
  std::map<std::string, std::string> named_;  ///< busid of a GPU: its name
  std::set<std::string> used_;
  std::map<std::string, std::uint32_t> next_;  ///< a name that is taken: the number to try behind it
  std::set<std::pair<std::string, std::string>> joined_;
  std::map<std::uint32_t, std::uint32_t> speeds_;  ///< Mb/s: how often
  std::uint32_t nics_ = 0, switches_ = 0, cards_ = 0;
};

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
  return XmlImporter(Source(text, place)).run();
}

XmlGpu identify_gpus(std::string_view text, const std::string& place) {
  const Source source(text, place);
  std::set<std::string> devices;
  std::set<std::uint32_t> capabilities;
  for (const pugi::xml_node& cpu : source.system().children("cpu")) {
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
