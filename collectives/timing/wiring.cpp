#include "collectives/timing/wiring.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/input_error.h"
#include "topology/host_path.h"

namespace stepcast::collectives {
namespace {

using topology::LinkId;
using topology::Path;

constexpr std::uint32_t kNone = 0xffffffffu;

/// A connection has a route, which takes a kilobyte or more once it is played. The way of each connection and of each
/// that it stands for is found in half a microsecond: of all pairs of 16,384 ranks.
constexpr double kMostConnections = 0x1p20;
constexpr double kMostWays = 0x1p28;

void refuse_above(double most, double found, const std::string& what) {
  if (found <= most) return;
  throw InputError("algorithm", "a plan of " + std::to_string(static_cast<std::uint64_t>(found)) + " " + what +
                                    " is not simulated, allowed are " +
                                    std::to_string(static_cast<std::uint64_t>(most)) +
                                    ": fewer GPUs or another algorithm make fewer");
}

Time alpha(const Transport& transport, topology::PathKind kind) {
  switch (kind) {
    case topology::PathKind::same_gpu:
      return {};
    case topology::PathKind::nvlink:
      return transport.nvlink_step;
    case topology::PathKind::pcie:
      return transport.pcie_step;
    case topology::PathKind::host:
      return transport.host_step;
    case topology::PathKind::network:
      return transport.network_step;
  }
  return {};
}

double efficiency(const Transport& transport, topology::LinkKind kind) {
  switch (kind) {
    case topology::LinkKind::nvlink:
      return transport.nvlink_efficiency;
    case topology::LinkKind::network:
      return transport.network_efficiency;
    case topology::LinkKind::pcie:
    case topology::LinkKind::socket:
      return 1.0;
  }
  return 1.0;
}

/// splitmix64's finaliser: different numbers for different connections.
std::uint64_t scramble(std::uint64_t z) {
  z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One connection's stand-in and all it stands for.
struct Strand {
  struct Hop {
    std::uint32_t link = 0;  // its slot
    double load = 1;
  };
  std::vector<Hop> hops;     // of the stand-in: node links, then fabric links
  std::size_t in_nodes = 0;  // hops that are node links and ports
  std::vector<Hop> fabric;   // of all images together, each link once
  Time latency{};            // the largest of all images
  bool alike = true;         // all images have like fabric links and latencies
};

class Wirer {
 public:
  Wirer(const Plan& plan, const Placement& placement, const topology::Cluster& cluster, const Transport& transport,
        Symmetry symmetry, std::uint32_t stride)
      : plan_(plan),
        placement_(placement),
        cluster_(cluster),
        transport_(transport),
        stride_(stride),
        slots_(cluster.links(), kNone) {
    ranks_ = placement.ranks;
    gpus_ = ranks_ / placement.nodes;
    period_ = symmetry.period != 0 ? symmetry.period : ranks_;
    shifts_ = ranks_ / period_;
    row_ = symmetry.row != 0 ? symmetry.row : gpus_;
    turns_ = symmetry.rotate ? row_ : 1;
    first_fabric_ = cluster.first_fabric_link();
  }

  std::optional<Wiring> run() {
    const auto connections = static_cast<std::uint32_t>(plan_.connections.size());
    const double simulated = static_cast<double>(stride_) * connections;
    refuse_above(kMostConnections, simulated, "connections between GPUs");
    refuse_above(kMostWays, simulated * images(), "ways between GPUs");
    strands_.reserve(std::size_t{stride_} * connections);
    for (std::uint32_t g = 0; g < stride_; ++g) {
      for (std::uint32_t c = 0; c < connections; ++c) {
        if (!follow(g, plan_.connections[c])) return {};
      }
    }
    Wiring wiring;
    wiring.groups = stride_;
    wiring.connections = connections;
    if (!collect(wiring)) return {};
    route(wiring);
    return wiring;
  }

 private:
  double images() const {
    return static_cast<double>(shifts_) * turns_ * static_cast<double>(placement_.groups.size() / stride_);
  }

  std::uint32_t image(std::uint32_t rank, std::uint32_t shift, std::uint32_t turn) const {
    const std::uint32_t shifted = (rank + shift * period_) % ranks_;
    return shifted / row_ * row_ + (shifted % row_ + turn) % row_;
  }

  bool in_fabric(LinkId link) const { return index(link) >= first_fabric_; }

  /// A link's place in the tables below: only links that are met have one.
  std::uint32_t slot(LinkId link) {
    std::uint32_t& at = slots_[index(link)];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(links_.size());
      links_.push_back(link);
      bandwidth_.push_back(cluster_.link_bandwidth(link));
      class_.push_back(at);
      used_.push_back(0);
      signature_.push_back(0);
      load_.push_back(0);
    }
    return at;
  }

  std::uint32_t find(std::uint32_t link) {
    while (class_[link] != link) link = class_[link] = class_[class_[link]];
    return link;
  }

  Path way(const Connection& connection, const std::vector<topology::GpuId>& ids, std::uint32_t shift,
           std::uint32_t turn) const {
    const std::uint32_t source = index(connection.source), destination = index(connection.destination);
    if (destination >= ranks_) return to_switch(ids, image(source, shift, turn), true);
    if (source >= ranks_) return to_switch(ids, image(destination, shift, turn), false);
    const topology::GpuId from = ids[image(source, shift, turn)], to = ids[image(destination, shift, turn)];
    if (!connection.host_side) return cluster_.path(from, to);
    const std::optional<Path> path = topology::host_path(cluster_, from, to);
    if (!path) throw std::logic_error("a host-side connection between GPUs that have none");
    return *path;
  }

  /// The part of the way to another node's GPU that leads up to the network's first switch (or down from the last), or
  /// inside one node the links between the GPU and its NVSwitches. Switches pass on one sum between each other, on
  /// links that are no narrower than a NIC's: these are left out.
  Path to_switch(const std::vector<topology::GpuId>& ids, std::uint32_t rank, bool up) const {
    const bool in_node = plan_.switches_at == SwitchesAt::nodes;
    const std::uint32_t other = in_node ? rank / gpus_ * gpus_ + (rank + 1) % gpus_ : (rank + gpus_) % ranks_;
    const Path whole = up ? cluster_.path(ids[rank], ids[other]) : cluster_.path(ids[other], ids[rank]);
    Path path;
    path.kind = whole.kind;
    const bool network = whole.kind == topology::PathKind::network;
    const auto on_network = [&](LinkId link) { return cluster_.link_traits(link).kind == topology::LinkKind::network; };
    const auto first = std::ranges::find_if(whole.links, on_network) - whole.links.begin();
    const auto last =
        std::ranges::find_if(whole.links.rbegin(), whole.links.rend(), on_network).base() - whole.links.begin() - 1;
    for (std::size_t i = 0; i < whole.links.size(); ++i) {
      const topology::LinkId link = whole.links[i];
      const auto place = static_cast<std::ptrdiff_t>(i);
      const bool part = network ? (up ? place <= first : place >= last)
                                : (up ? cluster_.link_source_kind(link) : cluster_.link_target_kind(link)) ==
                                      topology::DeviceKind::gpu;
      if (!part) continue;
      path.links.push_back(link);
      path.loads.push_back(whole.loads[i]);
      path.latency = path.latency + cluster_.link_traits(link).latency;
    }
    return path;
  }

  /// Lays a connection and all its images; false where their node links differ.
  bool follow(std::uint32_t group, const Connection& connection) {
    const auto number = static_cast<std::uint32_t>(strands_.size());
    Strand strand;
    bool first = true;
    for (std::uint32_t g = group; g < placement_.groups.size(); g += stride_) {
      const std::vector<topology::GpuId>& ids = placement_.groups[g];
      for (std::uint32_t shift = 0; shift < shifts_; ++shift) {
        for (std::uint32_t turn = 0; turn < turns_; ++turn) {
          const Path path = way(connection, ids, shift, turn);
          slots_of_path_.clear();
          for (const LinkId link : path.links) slots_of_path_.push_back(slot(link));
          if (!(first ? begin(strand, path) : join(strand, path))) return false;
          note(strand, path, number);
          first = false;
        }
      }
    }
    for (Strand::Hop& hop : strand.fabric) hop.load = std::exchange(load_[hop.link], 0);
    strands_.push_back(std::move(strand));
    return true;
  }

  Time latency(const Path& path) const { return alpha(transport_, path.kind) + path.latency; }

  bool begin(Strand& strand, const Path& path) {
    std::vector<Strand::Hop> fabric;
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      (in_fabric(path.links[i]) ? fabric : strand.hops).push_back({slots_of_path_[i], path.loads[i]});
    }
    strand.in_nodes = strand.hops.size();
    strand.hops.insert(strand.hops.end(), fabric.begin(), fabric.end());
    strand.latency = latency(path);
    return true;
  }

  bool like(const Strand::Hop& hop, std::uint32_t link, double load) const {
    return hop.load == load && bandwidth_[hop.link] == bandwidth_[link];
  }

  bool join(Strand& strand, const Path& path) {
    std::size_t node_hop = 0, fabric_hop = strand.in_nodes;
    bool alike = latency(path) == strand.latency;
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      const std::uint32_t link = slots_of_path_[i];
      if (!in_fabric(path.links[i])) {
        if (node_hop == strand.in_nodes || !like(strand.hops[node_hop], link, path.loads[i])) return false;
        class_[find(link)] = find(strand.hops[node_hop].link);
        ++node_hop;
      } else {
        alike = alike && fabric_hop < strand.hops.size() && like(strand.hops[fabric_hop], link, path.loads[i]);
        if (alike) class_[find(link)] = find(strand.hops[fabric_hop].link);
        ++fabric_hop;
      }
    }
    if (node_hop != strand.in_nodes) return false;
    strand.alike = strand.alike && alike && fabric_hop == strand.hops.size();
    strand.latency = std::max(strand.latency, latency(path));
    return true;
  }

  void note(Strand& strand, const Path& path, std::uint32_t number) {
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      const std::uint32_t link = slots_of_path_[i];
      used_[link] += path.loads[i];
      signature_[link] += scramble(number) * static_cast<std::uint64_t>(path.loads[i] * 0x1p20);
      if (!in_fabric(path.links[i])) continue;
      if (load_[link] == 0) strand.fabric.push_back({link});
      load_[link] += path.loads[i];
    }
  }

  /// The links that were met in the order of their ids: a few are sorted, since a large cluster has hundreds of
  /// thousands of others.
  std::vector<std::uint32_t> by_id() const {
    constexpr std::size_t kFew = 32;  // of so many
    std::vector<std::uint32_t> order(links_.size());
    if (links_.size() < slots_.size() / kFew) {
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::sort(order, {}, [&](std::uint32_t link) { return links_[link]; });
    } else {
      std::ranges::copy_if(slots_, order.begin(), [](std::uint32_t link) { return link != kNone; });
    }
    return order;
  }

  /// Makes a resource of each class of links; false where a node's links are not used alike. Fabric links that are not
  /// belong to no resource.
  bool collect(Wiring& wiring) {
    std::vector<bool> uneven(used_.size());
    const std::vector<std::uint32_t> order = by_id();
    for (const std::uint32_t link : order) {
      if (used_[link] == 0) continue;
      const std::uint32_t root = find(link);
      if (signature_[link] == signature_[root]) continue;
      if (!in_fabric(links_[link])) return false;
      uneven[root] = true;
    }
    for (const Strand& strand : strands_) {
      if (strand.alike) continue;
      for (const Strand::Hop& hop : strand.fabric) uneven[find(hop.link)] = true;
    }
    resource_.assign(used_.size(), kNone);
    for (const std::uint32_t link : order) {
      if (used_[link] == 0) continue;
      const std::uint32_t root = find(link);
      if (uneven[root]) continue;
      if (resource_[root] == kNone) {
        resource_[root] = static_cast<std::uint32_t>(wiring.capacity.size());
        wiring.capacity.push_back(capacity(links_[root]));
        wiring.bandwidth.push_back(bandwidth_[root]);
        wiring.members.emplace_back();
      }
      resource_[link] = resource_[root];
      wiring.members[resource_[link]].push_back(links_[link]);
    }
    return true;
  }

  Bandwidth capacity(LinkId link) const {
    const topology::LinkTraits traits = cluster_.link_traits(link);
    return traits.bandwidth * efficiency(transport_, traits.kind);
  }

  void route(Wiring& wiring) {
    Time least{};
    for (std::size_t i = 0; i < strands_.size(); ++i) {
      least = i == 0 ? strands_[i].latency : std::min(least, strands_[i].latency);
    }
    for (std::size_t i = 0; i < strands_.size(); ++i) {
      const Strand& strand = strands_[i];
      sim::Route route;
      route.latency = least;
      for (const Strand::Hop& hop : strand.hops) {
        const std::uint32_t resource = resource_[hop.link];
        if (resource == kNone) continue;
        const double load = hop.load * images() / static_cast<double>(wiring.members[resource].size());
        const auto known = std::ranges::find(route.uses, sim::ResourceId{resource}, &sim::Use::resource);
        if (known != route.uses.end()) {
          known->load += load;
        } else {
          route.uses.push_back({sim::ResourceId{resource}, load});
        }
      }
      for (const Strand::Hop& hop : strand.fabric) {
        if (resource_[hop.link] != kNone) continue;
        route.limit = std::min(route.limit, capacity(links_[hop.link]) * (1 / used_[hop.link]));
        wiring.aside.push_back({links_[hop.link], static_cast<std::uint32_t>(i), hop.load,
                                capacity(links_[hop.link]) / bandwidth_[hop.link]});
      }
      wiring.routes.push_back(std::move(route));
      wiring.ahead.push_back(strand.latency - least);
    }
  }

  const Plan& plan_;
  const Placement& placement_;
  const topology::Cluster& cluster_;
  const Transport& transport_;
  std::uint32_t stride_, ranks_ = 0, gpus_ = 1, row_ = 1, period_ = 0, shifts_ = 1, turns_ = 1, first_fabric_ = 0;
  std::vector<Strand> strands_;
  std::vector<std::uint32_t> slots_;          // by link id; kNone: not met
  std::vector<std::uint32_t> slots_of_path_;  // of the path at hand
  std::vector<LinkId> links_;                 // by slot, as all below
  std::vector<Bandwidth> bandwidth_;
  std::vector<std::uint32_t> class_;      // by link: union-find of links that stand for each other
  std::vector<double> used_;              // by link: loads of all flows
  std::vector<double> load_;              // by link: of the images of the strand at hand, in the fabric
  std::vector<std::uint64_t> signature_;  // by link: which connections' images load it how much, hashed
  std::vector<std::uint32_t> resource_;   // by link
};

}  // namespace

Bandwidth Wiring::alone(std::size_t route) const {
  Bandwidth rate = routes[route].limit;
  for (const sim::Use& use : routes[route].uses)
    rate = std::min(rate, Bandwidth{capacity[sim::index(use.resource)].value / use.load});
  return rate;
}

std::optional<Wiring> wire(const Plan& plan, const Placement& placement, const topology::Cluster& cluster,
                           const Transport& transport, Symmetry symmetry, std::uint32_t stride) {
  return Wirer(plan, placement, cluster, transport, symmetry, stride).run();
}

}  // namespace stepcast::collectives
