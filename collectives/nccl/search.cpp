#include "collectives/nccl/search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/search/chains.h"
#include "collectives/search/view_links.h"

namespace stepcast::collectives::nccl {
namespace {

using topology::GpuId;

constexpr std::uint32_t kMostChannels = 32;
constexpr std::uint32_t kFirstWithPat = 60;  // tuning.cc: it needs atomics of Pascal
constexpr std::uint32_t kPlainTreesFrom = 90;
constexpr double kLowest = 0.49;       // of the best rate so far: where the search stops
constexpr double kDoubledFrom = 25e9;  // channels this fast are doubled
constexpr double kNotDoubled = 50e9;   // but on Hopper and newer not below this, with more than so many
constexpr std::uint32_t kFewChannels = 4;
constexpr double kPcie = 12.0 / 15.75;        // NCCL's rate of a PCIe link over the data sheet's
constexpr double kOurPcie = 0.825;            // configs/links/pcie-*.yaml
constexpr double kVoltaNvlink = 20 / 20.625;  // NCCL's rate of a V100's link over that of configs/links/nvlink2.yaml
constexpr double kAmdSockets = 16e9;          // topo.h, AMD_BW
constexpr double kIntelCharge = 6.0 / 5;      // search.cc; on which of a way's PCIe links is assumed: on all
constexpr std::uint32_t kFewestMultimem = 3;  // GPUs of a node, inferred from the table of 2.27.5

/// GB/s; search.cc.
std::span<const double> rates(std::uint32_t compute_capability, bool one_node) {
  static constexpr double intra[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  static constexpr double inter[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12};
  static constexpr double intra_90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
  static constexpr double inter_90[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12};
  static constexpr double intra_100[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
  static constexpr double inter_100[] = {96, 86,   80, 48, 45.1, 42, 40,  30,  24,  22,
                                         20, 17.5, 15, 12, 6,    3,  2.4, 1.2, .24, .12};
  if (compute_capability >= 100) return one_node ? std::span<const double>(intra_100) : inter_100;
  if (compute_capability >= 90) return one_node ? std::span<const double>(intra_90) : inter_90;
  return one_node ? std::span<const double>(intra) : inter;
}

/// The fastest of the list that is not above `most`; 0 where there is none.
double rung(std::span<const double> list, double most) {
  for (const double rate : list) {
    if (rate * 1e9 <= most * (1 + 1e-9)) return rate * 1e9;
  }
  return 0;
}

struct Found {
  std::vector<Chain> chains;
  double rate = 0;
  bool nvlink = true;
};

class Searcher {
 public:
  Searcher(const topology::Cluster& cluster, std::span<const std::span<const GpuId>> nodes, ChainSearches& searches)
      : cluster_(cluster), gpus_(nodes.front()), searches_(searches) {
    if (nodes.size() > 1) abroad_ = across(gpus_, nodes[1]);
    switches_ = gpus_.size() > 1 && behind_switches(cluster, gpus_);
    view_ = view_node(cluster, gpus_, abroad_);
    join_sockets();
    for (std::size_t i = 0; i < view_.id.size(); ++i) view_.capacity[i] = rate_of_link(view_.id[i], view_.capacity[i]);
    if (cluster_.cpu() == topology::CpuVendor::intel) charge_intel();
  }

  Found rings() const {
    Found best;
    for (const double rate : rates(cluster_.compute_capability(), abroad_.empty())) {
      const double now = rate * 1e9, total = best.rate * static_cast<double>(best.chains.size());
      if (!best.chains.empty() && now <= kLowest * best.rate) break;
      for (const bool nvlink : {true, false}) {
        std::vector<Chain> chains = switches_ ? turned(now) : searches_.at(view_, now, nvlink, kMostChannels);
        if (chains.empty()) continue;
        if (static_cast<double>(chains.size()) * now > total * (1 + 1e-9)) best = {std::move(chains), now, nvlink};
        break;
      }
    }
    return best;
  }

  /// As many chains as were found could move twice as much inside the node.
  bool twice_inside(const Found& found) const {
    LinkView half = view_;
    for (std::size_t i = 0; i < half.id.size(); ++i)
      if (cluster_.link_traits(half.id[i]).kind == topology::LinkKind::nvlink) half.capacity[i] /= 2;
    if (gpus_.size() == 1 || !found.nvlink) return rate_of(open(view_), found.chains) >= 2 * found.rate;
    if (switches_) return rate_of(half, found.chains) >= found.rate * (1 - 1e-9);
    return chains_at(half, found.rate, true, kMostChannels).size() >= found.chains.size();
  }

  /// Into the NVSwitches, of one GPU.
  double nvlink() const { return switches_ ? rate_of(ring_view(), std::vector<Chain>{in_turn(0)}) : 0; }

  /// The slowest adapter of one GPU's.
  double adapter() const {
    double least = abroad_.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const auto& hops : view_.departs) {
      for (const LinkView::Hop& hop : hops) least = std::min(least, view_.capacity[hop.link] / hop.load);
    }
    return least;
  }

  /// Some way between a GPU and its adapter goes into a CPU by such a link.
  template <class Of>
  bool into_host(const Of& of) const {
    return std::ranges::any_of(view_.departs, [&](const std::vector<LinkView::Hop>& hops) {
      return std::ranges::any_of(hops, [&](const LinkView::Hop& hop) {
        const topology::LinkId id = view_.id[hop.link];
        return into_cpu(id) && of(cluster_.link_traits(id).kind);
      });
    });
  }

 private:
  /// A view whose adapters are no limit.
  LinkView open(LinkView view) const {
    view.departs.assign(gpus_.size(), {});
    view.arrives.assign(gpus_.size(), {});
    return view;
  }

  bool into_cpu(topology::LinkId id) const { return cluster_.link_target_kind(id) == topology::DeviceKind::cpu; }

  /// NCCL's graph has one link between two sockets, however many there are (topo.cc, ncclTopoConnectCpus).
  void join_sockets() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;  // by the sockets
    std::vector<std::uint32_t> stands_for(view_.id.size());
    for (std::uint32_t i = 0; i < view_.id.size(); ++i) {
      stands_for[i] = i;
      if (cluster_.link_traits(view_.id[i]).kind != topology::LinkKind::socket) continue;
      stands_for[i] =
          first.try_emplace({cluster_.link_source(view_.id[i]), cluster_.link_target(view_.id[i])}, i).first->second;
    }
    const auto join = [&](std::vector<LinkView::Hop>& hops) {
      for (LinkView::Hop& hop : hops) hop.link = stands_for[hop.link];
    };
    join(view_.hops);
    for (std::vector<LinkView::Hop>& hops : view_.departs) join(hops);
    for (std::vector<LinkView::Hop>& hops : view_.arrives) join(hops);
  }

  /// Copies between GPUs through an Intel CPU cost more of their PCIe links.
  void charge_intel() {
    for (std::size_t way = 0; way + 1 < view_.begin.size(); ++way) {
      const std::span<LinkView::Hop> hops(view_.hops.begin() + view_.begin[way],
                                          view_.hops.begin() + view_.begin[way + 1]);
      if (std::ranges::none_of(hops, [&](const LinkView::Hop& hop) { return into_cpu(view_.id[hop.link]); })) continue;
      for (LinkView::Hop& hop : hops) {
        if (cluster_.link_traits(view_.id[hop.link]).kind == topology::LinkKind::pcie) hop.load *= kIntelCharge;
      }
    }
  }

  double rate_of_link(topology::LinkId id, double payload) const {
    switch (cluster_.link_traits(id).kind) {
      case topology::LinkKind::nvlink:  // of all others configs/links/ has NCCL's
        return cluster_.compute_capability() == 70 ? payload * kVoltaNvlink : payload;
      case topology::LinkKind::pcie:
      case topology::LinkKind::c2c:
        return payload * (kPcie / kOurPcie);
      case topology::LinkKind::socket:
        return cluster_.cpu() == topology::CpuVendor::amd ? kAmdSockets : payload;
      case topology::LinkKind::network:
        return payload * (cluster_.nic_port().data_sheet.value / cluster_.nic_port().payload.value);
    }
    return payload;
  }

  LinkView ring_view() const {
    LinkView ring = view_;
    ring.departs.clear();
    ring.arrives.clear();
    return ring;
  }

  Chain in_turn(std::size_t first) const {
    Chain chain;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      chain.push_back(static_cast<std::uint32_t>((first + i) % gpus_.size()));
    return chain;
  }

  /// Behind NVSwitches any order is as good: each ring enters the node at another GPU.
  std::vector<Chain> turned(double rate) const {
    for (std::size_t count = kMostChannels; count > 0; --count) {
      std::vector<Chain> chains;
      for (std::size_t k = 0; k < count; ++k) chains.push_back(in_turn(abroad_.empty() ? 0 : k * gpus_.size() / count));
      if (rate_of(view_, chains) >= rate * (1 - 1e-9)) return chains;
    }
    return {};
  }

  const topology::Cluster& cluster_;
  std::span<const GpuId> gpus_;
  ChainSearches& searches_;
  std::vector<GpuId> abroad_;
  bool switches_ = false;
  LinkView view_;
};

Architecture architecture(std::uint32_t compute_capability) {
  if (compute_capability >= 100) return Architecture::blackwell;
  if (compute_capability >= 90) return Architecture::hopper;
  return compute_capability >= 80 ? Architecture::ampere : Architecture::volta;
}

/// Twice the channels at half the rate.
void split(ChannelGraph& graph, std::uint32_t compute_capability) {
  const double rate = graph.intra.value;
  if (rate < kDoubledFrom || 2 * graph.channels > kMostChannels) return;
  if (compute_capability > 80 && rate < kNotDoubled && graph.channels > kFewChannels) return;
  graph.channels *= 2;
  graph.intra = graph.intra * 0.5;
  graph.inter = graph.inter * 0.5;
}

/// tuning.cc of 2.30.7, line 460 of 2.27.3: the adapter no further than PATH_PXB, or PATH_P2C from compute capability
/// 9.0 on.
Ll128Trust trust_in_ll128(const Searcher& searcher, std::uint32_t compute_capability, bool nvlink) {
  constexpr std::uint32_t kFirst = 70, kFirstOverC2c = 90;
  if (!nvlink || compute_capability < kFirst) return Ll128Trust::none;
  const auto any = [](topology::LinkKind) { return true; };
  if (!searcher.into_host(any)) return Ll128Trust::all_releases;
  const auto other = [](topology::LinkKind kind) { return kind != topology::LinkKind::c2c; };
  return compute_capability >= kFirstOverC2c && !searcher.into_host(other) ? Ll128Trust::over_c2c : Ll128Trust::none;
}

}  // namespace

Job search(const topology::Cluster& cluster, std::span<const GpuId> group, ChainSearches& searches) {
  const std::vector<std::span<const GpuId>> nodes = by_node(cluster, group);
  const std::uint32_t sm = cluster.compute_capability();
  Job job;
  job.ranks = static_cast<std::uint32_t>(group.size());
  job.nodes = static_cast<std::uint32_t>(nodes.size());
  job.architecture = architecture(sm);
  job.cpu = cluster.cpu() == topology::CpuVendor::amd     ? Cpu::amd
            : cluster.cpu() == topology::CpuVendor::intel ? Cpu::intel
                                                          : Cpu::other;
  if (job.ranks < 2 || nodes.front().size() > kMostViewed) return job;
  const Searcher searcher(cluster, nodes, searches);
  const Found rings = searcher.rings();
  if (rings.chains.empty()) return job;
  const auto graph_of = [&](Algo algorithm) -> std::optional<ChannelGraph>& {
    return job.graphs[static_cast<std::size_t>(algorithm)];
  };
  ChannelGraph ring;
  ring.channels = static_cast<std::uint32_t>(rings.chains.size());
  ring.intra = ring.inter = Bandwidth{rings.rate};
  ring.inside = rings.nvlink ? Hardware::nvlink : Hardware::pcie;
  if (job.nodes > 1) ring.network_latency = cluster.nic_port().nccl.plugin.latency;
  ring.same_channels =
      std::ranges::all_of(rings.chains, [&](const Chain& chain) { return chain == rings.chains.front(); });
  ChannelGraph tree = ring;
  // Between nodes the search then raises a tree's rate inside them, up to twice the adapters'.
  const bool raised = job.nodes > 1 && searcher.twice_inside(rings);
  // Before Hopper two GPUs of a node share the root (search.cc: "Try a simpler tree", from compute capability 9.0 on).
  tree.plain_tree = job.nodes > 1 && (job.nodes == job.ranks || sm >= kPlainTreesFrom);
  // CollNet's is one as rings have; where the network adds, NVLS hands its sums to it and needs no tree.
  job.collnet = job.nodes > 1 && cluster.in_network_reduction();
  if (job.collnet) graph_of(Algo::collnet_direct) = ring;
  split(ring, sm);
  split(tree, sm);
  if (raised) tree.intra = tree.intra * 2;
  graph_of(Algo::ring) = ring;
  graph_of(Algo::tree) = tree;
  if (job.nodes == job.ranks && sm >= kFirstWithPat) graph_of(Algo::pat) = tree;
  job.ll128 = trust_in_ll128(searcher, sm, rings.nvlink);

  const auto gpus = static_cast<std::uint32_t>(nodes.front().size());
  if (job.architecture >= Architecture::hopper && gpus >= kFewestMultimem && searcher.nvlink() > 0) {
    ChannelGraph nvls;
    nvls.channels = std::min(gpus, kMostChannels);
    nvls.same_channels = false;
    nvls.network_latency = ring.network_latency;
    const std::span<const double> inside = rates(sm, true);
    nvls.intra = Bandwidth{rung(inside, searcher.nvlink() / nvls.channels)};
    // Raised as far as the list or the adapters allow.
    nvls.inter = Bandwidth{job.nodes == 1 ? inside.front() * 1e9 : rung(rates(sm, false), searcher.adapter())};
    graph_of(job.nodes == 1 || job.collnet ? Algo::nvls : Algo::nvls_tree) = nvls;
  }
  return job;
}

}  // namespace stepcast::collectives::nccl
