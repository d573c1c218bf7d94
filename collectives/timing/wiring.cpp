#include "collectives/timing/wiring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "collectives/timing/aside_links.h"
#include "collectives/timing/bounced_copies.h"
#include "collectives/timing/like_nodes.h"
#include "collectives/timing/link_slots.h"
#include "collectives/timing/paths.h"
#include "collectives/timing/weighted_lists.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

using topology::LinkId;
using topology::Path;

constexpr std::uint32_t kNone = 0xffffffffu;

/// A connection has a route, which takes some 300 bytes once it is played. The way of each connection and of each
/// that it stands for is found in half a microsecond: of all pairs of 16,384 ranks where each pair draws its own. By
/// kinds of nodes ways are known, and one is looked up in a tenth of that.
constexpr double kMostConnections = 0x1p20;
constexpr double kMostWays = 0x1p28;

/// Fewer ways than these are found sooner than it is told which of them are alike.
constexpr double kFewWays = 2048;

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
    case topology::LinkKind::c2c:
    case topology::LinkKind::socket:
      return 1.0;
  }
  return 1.0;
}

/// Hops whose first half many ways have in common, from one GPU up, and whose second half many others, down to one.
struct HopHalves {
  std::uint32_t first = 0, second = 0;  // which of the Wirer's halves_
};

/// One connection's stand-in, the first of its images, and all it stands for.
struct Strand {
  HopHalves in_nodes, across;  // of the stand-in, by slot: its links in nodes, and the fabric's
  std::uint32_t loads = 0;     // which of the Wirer's fabric_loads_
  bool alike = true;           // all images have like fabric links and latencies
  Time latency{};              // the largest of all images
};

/// An image's way, by slot.
struct Way {
  WeightedList in_nodes, across;
  Time latency{};
};

class Wirer {
 public:
  Wirer(const CollectivePlan& plan, const GroupPlacement& placement, const topology::Cluster& cluster,
        const Transport& transport, Symmetry symmetry, std::uint32_t stride, WaySearch search)
      : plan_(plan),
        placement_(placement),
        cluster_(cluster),
        transport_(transport),
        stride_(stride),
        slots_(cluster.links()) {
    ranks_ = placement.ranks;
    gpus_ = ranks_ / placement.nodes;
    period_ = symmetry.period != 0 ? symmetry.period : ranks_;
    shifts_ = ranks_ / period_;
    row_ = symmetry.row != 0 ? symmetry.row : gpus_;
    turns_ = symmetry.rotate ? row_ : 1;
    first_fabric_ = cluster.first_fabric_link();
    if ((transport.host_copy_efficiency < 1 && !cluster.pcie_p2p()) || transport.host_staging_bandwidth)
      bounced_copies_.emplace(cluster, transport.forced.net_gdr_level);
    images_ = static_cast<double>(shifts_) * turns_ * static_cast<double>(placement.groups.size() / stride);
    const double all_ways = static_cast<double>(plan.connections.size()) * stride * images_;
    if (search == WaySearch::by_kind_of_nodes || (search == WaySearch::soonest && all_ways > kFewWays))
      like_nodes_ = LikeNodes::find(plan, placement, cluster, symmetry);
  }

  /// Ways that should differ in the nodes alone differ otherwise: nothing of what run() made holds.
  bool misled() const { return misled_; }

  std::optional<Wiring> run() {
    const auto connections = static_cast<std::uint32_t>(plan_.connections.size());
    const double simulated = static_cast<double>(stride_) * connections;
    refuse_above(kMostConnections, simulated, "connections between GPUs");
    if (!like_nodes_) refuse_above(kMostWays, simulated * images_, "ways between GPUs");
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
  std::uint32_t image(std::uint32_t rank, std::uint32_t shift, std::uint32_t turn) const {
    const std::uint32_t shifted = (rank + shift * period_) % ranks_;
    return shifted / row_ * row_ + (shifted % row_ + turn) % row_;
  }

  bool in_fabric(LinkId link) const { return index(link) >= first_fabric_; }

  /// A link's place in the tables below: only links that are met have one, and like nodes' links one together.
  std::uint32_t slot(LinkId link) {
    if (like_nodes_) link = like_nodes_->stand_in(link);
    const std::uint32_t at = slots_.slot(link);
    if (at == used_.size()) {
      bandwidth_.push_back(cluster_.link_bandwidth(link) * cluster_.link_speed(link));
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

  /// Valid until the next call.
  const Way& way(const Connection& connection, const std::vector<topology::GpuId>& ids, std::uint32_t shift,
                 std::uint32_t turn) {
    const auto end = [&](RankId at) { return RankId{index(at) < ranks_ ? image(index(at), shift, turn) : index(at)}; };
    const Path path =
        path_of(plan_, {end(connection.source), end(connection.destination), connection.channel, connection.host_side},
                cluster_, ids, gpus_);
    way_.in_nodes.clear();
    way_.across.clear();
    for (std::size_t i = 0; i < path.links.size(); ++i)
      (in_fabric(path.links[i]) ? way_.across : way_.in_nodes).push_back({slot(path.links[i]), path.loads[i]});
    way_.latency = alpha(transport_, path.kind) + path.latency;
    if (bounced_copies_) bounced_copies_->add(way_.in_nodes, links_);
    return way_;
  }

  /// Lays a connection and all its images; false where their node links differ.
  bool follow(std::uint32_t group, const Connection& connection) {
    Strand strand;
    begun_ = false;
    strand_turns_.clear();
    for (std::uint32_t g = group; g < placement_.groups.size(); g += stride_)
      if (!(like_nodes_ ? follow_by_kind(strand, connection, g) : follow_each(strand, connection, g))) return false;
    if (like_nodes_)
      cross_by_kind(strand);
    else
      strand.loads = loads_so_far();
    for (const Weighted& hop : fabric_loads_[strand.loads]) note(hop);
    strand.in_nodes = halves_of(stand_in_.in_nodes);
    strand.across = halves_of(stand_in_.across);
    strands_.push_back(strand);
    return true;
  }

  HopHalves halves_of(std::span<const Weighted> hops) {
    const std::size_t half = (hops.size() + 1) / 2;
    return {halves_.number_of_list(hops.first(half)), halves_.number_of_list(hops.subspan(half))};
  }

  bool follow_each(Strand& strand, const Connection& connection, std::uint32_t group) {
    const std::vector<topology::GpuId>& ids = placement_.groups[group];
    for (std::uint32_t shift = 0; shift < shifts_; ++shift) {
      for (std::uint32_t turn = 0; turn < turns_; ++turn) {
        const Way& image = way(connection, ids, shift, turn);
        if (!join_nodes(strand, image)) return false;
        for (const Weighted& hop : image.in_nodes) note(hop);
        if (images_ > 1) {
          cross(strand, image.across, image.latency, 1);
        } else {  // nothing that it could be unlike
          for (const Weighted& hop : image.across) note(hop);
        }
      }
    }
    return true;
  }

  /// Each way once for all pairs of nodes of the kinds that it joins. Which ways cross the fabric is only noted, turn
  /// by turn.
  bool follow_by_kind(Strand& strand, const Connection& connection, std::uint32_t group) {
    const std::vector<topology::GpuId>& ids = placement_.groups[group];
    const std::uint32_t source = index(connection.source), destination = index(connection.destination);
    const std::span<const LikeNodes::Shifts> shifts = like_nodes_->shifts(group, source / gpus_, destination / gpus_);
    found_ += static_cast<double>(shifts.size()) * turns_;
    refuse_above(kMostWays, found_, "ways between GPUs");
    for (std::uint32_t turn = 0; turn < turns_; ++turn) {
      const Way first = way(connection, ids, shifts.front().first, turn);
      if (!join_nodes(strand, first)) return false;
      for (const Weighted& hop : first.in_nodes) note({hop.what, hop.load * shifts_});
      const std::uint32_t in_places = in_places_.number_of_list(places(first.in_nodes));
      std::vector<KnownWay>& known = known_[{cluster_.place_in_node(ids[image(source, 0, turn)]),
                                             cluster_.place_in_node(ids[image(destination, 0, turn)])}];
      if (known.empty()) known.resize(like_nodes_->pairs());
      turn_.clear();
      for (const LikeNodes::Shifts& alike : shifts) {
        KnownWay& way_of_kinds = known[alike.kinds];
        if (way_of_kinds.crossing == kNone) way_of_kinds = remember(way(connection, ids, alike.first, turn));
        if (misled_ = way_of_kinds.in_places != in_places; misled_) return false;
        turn_.push_back({way_of_kinds.crossing, static_cast<double>(alike.times)});
      }
      strand_turns_.push_back({turn_lists_.number_of_list(turn_)});
    }
    return true;
  }

  /// Lays what was noted across the fabric, in which order does not matter: many connections are the same there.
  void cross_by_kind(Strand& strand) {
    std::ranges::sort(strand_turns_, {}, &Weighted::what);
    const std::uint32_t number = strand_lists_.number_of_list(strand_turns_);
    if (number == crossed_.size()) {
      for (const Weighted& turn : strand_turns_)
        for (const Weighted& taken : turn_lists_[turn.what]) {
          const auto& [across, latency] = crossings_[taken.what];
          cross(strand, fabric_ways_[across], latency, taken.load);
        }
      crossed_.push_back({loads_so_far(), strand.latency, strand.alike});
    }
    const StrandCrossing& like = crossed_[number];
    strand.loads = like.loads;
    strand.latency = like.latency;
    strand.alike = like.alike;
  }

  /// Of two places in nodes and two kinds of nodes.
  struct KnownWay {
    std::uint32_t in_places = kNone;  // which of in_places_
    std::uint32_t crossing = kNone;   // which of crossings_
  };
  KnownWay remember(const Way& found) {
    const std::pair crossing(fabric_ways_.number_of_list(found.across), found.latency);
    const auto [at, first] = crossing_numbers_.try_emplace(crossing, static_cast<std::uint32_t>(crossings_.size()));
    if (first) crossings_.push_back(crossing);
    return {in_places_.number_of_list(places(found.in_nodes)), at->second};
  }

  /// The hops by their links' places in the node.
  WeightedList places(WeightedList hops) const {
    for (Weighted& hop : hops) hop.what = index(links_[hop.what]) % cluster_.links_per_node();
    return hops;
  }

  bool like(const Weighted& hop, const Weighted& other) const {
    return hop.load == other.load && bandwidth_[hop.what] == bandwidth_[other.what];
  }

  /// An image's links in nodes stand for those of the strand's first image, which begins it; false where they are
  /// unlike.
  bool join_nodes(Strand& strand, const Way& image) {
    if (!std::exchange(begun_, true)) {
      stand_in_ = image;
      strand.latency = image.latency;
    }
    if (image.in_nodes.size() != stand_in_.in_nodes.size()) return false;
    for (std::size_t i = 0; i < image.in_nodes.size(); ++i) {
      if (!like(stand_in_.in_nodes[i], image.in_nodes[i])) return false;
      class_[find(image.in_nodes[i].what)] = find(stand_in_.in_nodes[i].what);
    }
    return true;
  }

  /// Links of the fabric that so many images cross likewise, as far as they are like.
  void cross(Strand& strand, std::span<const Weighted> hops, Time latency, double times) {
    std::size_t at = 0;
    bool alike = latency == strand.latency;
    for (const Weighted& hop : hops) {
      alike = alike && at < stand_in_.across.size() && like(stand_in_.across[at], hop);
      if (alike) class_[find(hop.what)] = find(stand_in_.across[at].what);
      ++at;
      if (load_[hop.what] == 0) loaded_.push_back({hop.what});
      load_[hop.what] += hop.load * times;
    }
    strand.alike = strand.alike && alike && at == stand_in_.across.size();
    strand.latency = std::max(strand.latency, latency);
  }

  /// The number of what has crossed the fabric's links, each once, since this was last asked.
  std::uint32_t loads_so_far() {
    std::ranges::sort(loaded_, {}, &Weighted::what);
    for (Weighted& hop : loaded_) hop.load = std::exchange(load_[hop.what], 0);
    const std::uint32_t number = fabric_loads_.number_of_list(loaded_);
    loaded_.clear();
    return number;
  }

  /// The strand at hand loads a link.
  void note(const Weighted& hop) {
    used_[hop.what] += hop.load;
    signature_[hop.what] +=
        sim::scramble(strands_.size()) * static_cast<std::uint64_t>(std::llround(hop.load * 0x1p20));
  }

  /// Makes a resource of each class of links; false where a node's links are not used alike. Fabric links that are not
  /// belong to no resource.
  bool collect(Wiring& wiring) {
    std::vector<bool> uneven(used_.size());
    const std::vector<std::uint32_t> order = slots_.by_id();
    for (const std::uint32_t link : order) {
      if (used_[link] == 0) continue;
      const std::uint32_t root = find(link);
      if (signature_[link] == signature_[root]) continue;
      if (!in_fabric(links_[link])) return false;
      uneven[root] = true;
    }
    std::vector<bool> unlike(fabric_loads_.size());
    for (const Strand& strand : strands_)
      if (!strand.alike) unlike[strand.loads] = true;
    for (std::uint32_t loads = 0; loads < unlike.size(); ++loads)
      if (unlike[loads])
        for (const Weighted& hop : fabric_loads_[loads]) uneven[find(hop.what)] = true;
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
      add_members(link, wiring.members[resource_[link]]);
    }
    if (like_nodes_)
      for (std::vector<LinkId>& members : wiring.members) std::ranges::sort(members);
    set_aside(wiring, order);
    return true;
  }

  void add_members(std::uint32_t link, std::vector<LinkId>& to) const {
    if (like_nodes_)
      like_nodes_->add_members(links_[link], to);
    else
      to.push_back(links_[link]);
  }

  /// Of links that belong to no resource those together that every strand loads alike. Only the first of them has the
  /// number of their list.
  void set_aside(Wiring& wiring, const std::vector<std::uint32_t>& order) {
    aside_.assign(used_.size(), kNone);
    std::map<std::tuple<std::uint64_t, double, double>, std::uint32_t> lists;  // by signature, rate and capacity
    for (const std::uint32_t link : order) {
      if (used_[link] == 0 || resource_[link] != kNone) continue;
      const auto [at, first] =
          lists.try_emplace({signature_[link], bandwidth_[link].value, capacity(links_[link]).value},
                            static_cast<std::uint32_t>(wiring.aside_links.size()));
      if (first) {
        aside_[link] = at->second;
        wiring.aside_links.emplace_back();
      }
      wiring.aside_links[at->second].push_back(links_[link]);
    }
    loads_aside_.resize(fabric_loads_.size());
    for (std::uint32_t loads = 0; loads < fabric_loads_.size(); ++loads)
      for (const Weighted& hop : fabric_loads_[loads])
        if (aside_[hop.what] != kNone) loads_aside_[loads].push_back(hop);
  }

  /// Between an adapter and a CPU, either way.
  bool into_host_bridge(LinkId link) const {
    using enum topology::DeviceKind;
    const topology::DeviceKind from = cluster_.link_source_kind(link), to = cluster_.link_target_kind(link);
    return (from == nic && to == cpu) || (from == cpu && to == nic);
  }

  Bandwidth capacity(LinkId link) const {
    const topology::LinkTraits traits = cluster_.link_traits(link);
    const double bridge =
        transport_.host_bridge_efficiency < 1 && into_host_bridge(link) ? transport_.host_bridge_efficiency : 1;
    const double copies = bounced_copies_ && bounced_copies_->both_ways(link) ? transport_.host_copy_efficiency : 1;
    const Bandwidth reached =
        traits.bandwidth * cluster_.link_speed(link) * efficiency(transport_, traits.kind) * bridge * copies;
    const std::uint32_t staged =
        transport_.host_staging_bandwidth && bounced_copies_ ? bounced_copies_->staged(link) : 0;
    return staged == 0 ? reached : std::min(reached, *transport_.host_staging_bandwidth * static_cast<double>(staged));
  }

  void route(Wiring& wiring) {
    share_aside(wiring);
    find_binding(wiring);
    wiring.routes.reserve(strands_.size());
    for (std::uint32_t i = 0; i < strands_.size(); ++i) {
      const Strand& strand = strands_[i];
      Bandwidth limit{std::numeric_limits<double>::infinity()};
      for (const Weighted& hop : loads_aside_[strand.loads]) {
        const std::uint32_t list = aside_[hop.what];
        if (is_split_[list]) limit = std::min(limit, capacity(links_[hop.what]) * (1 / used_[hop.what]));
        wiring.aside.push_back({list, i, hop.load, capacity(links_[hop.what]) / bandwidth_[hop.what]});
      }
      find_uses(strand, wiring);
      std::erase_if(uses_, [&](const sim::Use& use) {
        return wiring.binding[sim::index(use.resource)] != sim::index(use.resource);
      });
      wiring.routes.add(uses_, {strand.latency, limit});
      wiring.occupancy = i == 0 ? strand.latency : std::min(wiring.occupancy, strand.latency);
    }
  }

  /// Links that like flows use unlike are shared as if all of a stand-in's images went at its rate: the flows that are
  /// active together share each list of links, and none is faster than the image that has least of it. A list that is
  /// shared is a resource.
  void share_aside(Wiring& wiring) {
    std::vector<AsideLinks> lists(wiring.aside_links.size());
    for (std::uint32_t i = 0; i < strands_.size(); ++i) {
      find_uses(strands_[i], wiring);
      double alone = std::numeric_limits<double>::infinity();
      for (const sim::Use& use : uses_)
        alone = std::min(alone, wiring.capacity[sim::index(use.resource)].value / use.load);
      for (const Weighted& hop : loads_aside_[strands_[i].loads]) {
        AsideLinks& list = lists[aside_[hop.what]];
        list.capacity = capacity(links_[hop.what]);
        list.add(i, hop.load, alone);
      }
    }
    const AsideSharing sharing = share(lists, strands_.size());
    aside_resource_.assign(lists.size(), kNone);
    for (const std::uint32_t list : sharing.shared) {
      aside_resource_[list] = static_cast<std::uint32_t>(wiring.capacity.size());
      wiring.capacity.push_back(lists[list].capacity);
      wiring.bandwidth.push_back(lists[list].capacity);
      wiring.members.emplace_back();  // which wiring.aside tells the loads of
    }
    is_split_.assign(lists.size(), false);
    for (const std::uint32_t list : sharing.split) is_split_[list] = true;
  }

  /// uses_: how much each resource is loaded for a byte that the strand moves.
  void find_uses(const Strand& strand, const Wiring& wiring) {
    uses_.clear();
    for (const std::uint32_t half :
         {strand.in_nodes.first, strand.in_nodes.second, strand.across.first, strand.across.second})
      for (const Weighted& hop : halves_[half]) {
        const std::uint32_t resource = resource_[hop.what];
        if (resource == kNone) continue;
        const double load = hop.load * images_ / static_cast<double>(wiring.members[resource].size());
        const auto known = std::ranges::find(uses_, sim::ResourceId{resource}, &sim::Use::resource);
        if (known != uses_.end()) {
          known->load += load;
        } else {
          uses_.push_back({sim::ResourceId{resource}, load});
        }
      }
    if (aside_resource_.empty()) return;
    for (const Weighted& hop : loads_aside_[strand.loads])
      if (const std::uint32_t resource = aside_resource_[aside_[hop.what]]; resource != kNone)
        uses_.push_back({sim::ResourceId{resource}, hop.load});
  }

  /// Of resources that the same strands load alike, by a hash of these, the first of the narrowest binds.
  void find_binding(Wiring& wiring) {
    std::vector<std::uint64_t> signature(wiring.capacity.size());
    for (std::size_t i = 0; i < strands_.size(); ++i) {
      find_uses(strands_[i], wiring);
      for (const sim::Use& use : uses_)
        signature[sim::index(use.resource)] += sim::scramble(i) * sim::scramble(std::bit_cast<std::uint64_t>(use.load));
    }
    std::unordered_map<std::uint64_t, std::uint32_t> narrowest;
    for (std::uint32_t resource = 0; resource < signature.size(); ++resource) {
      std::uint32_t& known = narrowest.try_emplace(signature[resource], resource).first->second;
      if (wiring.capacity[resource] < wiring.capacity[known]) known = resource;
    }
    for (const std::uint64_t of : signature) wiring.binding.push_back(narrowest.at(of));
  }

  const CollectivePlan& plan_;
  const GroupPlacement& placement_;
  const topology::Cluster& cluster_;
  const Transport& transport_;
  std::uint32_t stride_, ranks_ = 0, gpus_ = 1, row_ = 1, period_ = 0, shifts_ = 1, turns_ = 1, first_fabric_ = 0;
  double images_ = 1;  // of a connection that is simulated
  std::vector<Strand> strands_;
  WeightedLists halves_;  // of strands
  Way stand_in_;          // of the strand at hand,
  bool begun_ = false;    // if it is known
  std::vector<sim::Use> uses_;
  std::optional<LikeNodes> like_nodes_;
  std::optional<BouncedCopies> bounced_copies_;  // where GPUs have these, and lose by sending and receiving at once
  bool misled_ = false;
  double found_ = 0;  // ways
  Way way_;           // the one asked for last
  // Of ways by kinds of nodes.
  WeightedLists in_places_, fabric_ways_;                  // hops by place in the node; by slot
  std::vector<std::pair<std::uint32_t, Time>> crossings_;  // fabric way and latency
  std::map<std::pair<std::uint32_t, Time>, std::uint32_t> crossing_numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<KnownWay>> known_;  // by places, then by kinds
  WeightedList turn_, strand_turns_;         // how many images take each crossing; turns of the strand at hand
  WeightedLists turn_lists_, strand_lists_;  // of these
  struct StrandCrossing {
    std::uint32_t loads = 0;
    Time latency{};
    bool alike = true;
  };
  std::vector<StrandCrossing> crossed_;                // by number in strand_lists_
  WeightedList loaded_;                                // fabric links that the strand at hand has crossed
  WeightedLists fabric_loads_;                         // of all images of a strand together
  std::vector<WeightedList> loads_aside_;              // as fabric_loads_: of each list aside the first link
  LinkSlots slots_;                                    // of links that were met
  const std::vector<LinkId>& links_ = slots_.links();  // by slot, as all below
  std::vector<Bandwidth> bandwidth_;
  std::vector<std::uint32_t> class_;           // by link: union-find of links that stand for each other
  std::vector<double> used_;                   // by link: loads of all flows
  std::vector<double> load_;                   // by link: of the images of the strand at hand, in the fabric
  std::vector<std::uint64_t> signature_;       // by link: which connections' images load it how much, hashed
  std::vector<std::uint32_t> resource_;        // by link; kNone: none
  std::vector<std::uint32_t> aside_;           // by link: in Wiring::aside_links, of each the first link alone
  std::vector<bool> is_split_;                 // by list of Wiring::aside_links
  std::vector<std::uint32_t> aside_resource_;  // by list of Wiring::aside_links; kNone: none
};

}  // namespace

void Wiring::spread(std::vector<double>& by_resource) const {
  for (std::size_t resource = 0; resource < binding.size(); ++resource)
    by_resource[resource] = by_resource[binding[resource]];
}

Bandwidth Wiring::alone(std::size_t route) const {
  Bandwidth rate = routes[route].limit;
  for (const sim::Use& use : routes[route].uses)
    rate = std::min(rate, Bandwidth{capacity[sim::index(use.resource)].value / use.load});
  return rate;
}

std::optional<Wiring> wire(const CollectivePlan& plan, const GroupPlacement& placement,
                           const topology::Cluster& cluster, const Transport& transport, Symmetry symmetry,
                           std::uint32_t stride, WaySearch search) {
  Wirer wirer(plan, placement, cluster, transport, symmetry, stride, search);
  std::optional<Wiring> wiring = wirer.run();
  return wirer.misled() ? wire(plan, placement, cluster, transport, symmetry, stride, WaySearch::each) : wiring;
}

}  // namespace stepcast::collectives
