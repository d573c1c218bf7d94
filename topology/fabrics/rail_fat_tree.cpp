#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "sim/input_error.h"
#include "topology/fabrics.h"
#include "topology/fabrics/sharing.h"
#include "topology/fabrics/tree_flow.h"
#include "topology/random_pick.h"
#include "topology/unfit_radix.h"

namespace stepcast::topology {

namespace {

/// How many of everything, all planes alike. A rail is one NIC of every node. Leaves of all rails share one tree (one
/// plane) where three levels reach all of them; beyond that each rail is a tree of its own (one plane per rail) and
/// traffic changes rail only inside the nodes.
struct FatTreeShape {
  std::uint32_t planes = 1, rails = 1;   ///< rails of one plane
  std::uint32_t down = 1;                ///< nodes of one leaf
  std::uint32_t groups = 1;              ///< leaves of one rail
  std::uint32_t up = 0;                  ///< up-links of one leaf; 0: the leaf stands alone
  std::uint32_t groups_per_pod = 1;      ///< leaves of one rail under the same spines
  std::uint32_t pods = 1;                ///< of one plane
  std::uint32_t spines = 0;              ///< of one pod
  std::uint32_t spine_up = 0;            ///< up-links of one spine; 0: two levels
  std::uint32_t cores_per_spine = 0;     ///< cores that spine s of every pod reaches; other spines reach other cores
  double width = 1, spine_up_width = 1;  ///< physical links in one of ours: more than 1 where trunks are one wide link

  std::uint32_t leaves() const { return planes * rails * groups; }
  std::uint32_t all_spines() const { return planes * pods * spines; }
  std::uint32_t all_cores() const { return planes * spines * cores_per_spine; }
};

/// The fewest switches that `links` parallel links can be spread over evenly such that each gets no more than `most`.
std::uint32_t spread(std::uint32_t links, std::uint32_t most) {
  std::uint32_t over = (links + most - 1) / most;
  while (links % over != 0) ++over;
  return over;
}

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

/// One tree over `rails` rails; false where three levels of these switches cannot.
bool fits(FatTreeShape& shape, std::uint32_t radix) {
  if (shape.rails == 1 && shape.groups == 1) {
    shape.up = 0;
    return true;
  }
  const std::uint32_t leaves = shape.rails * shape.groups;
  if (leaves <= radix) {
    shape.groups_per_pod = shape.groups;
    shape.spines = divide_up(leaves * shape.up, radix);
    while (shape.up % shape.spines != 0 || leaves * (shape.up / shape.spines) > radix) ++shape.spines;
    return true;
  }
  const std::uint32_t spine_down = radix / 2;
  shape.groups_per_pod = spine_down / shape.rails;
  if (shape.groups_per_pod == 0) return false;
  shape.pods = divide_up(shape.groups, shape.groups_per_pod);
  if (shape.pods > radix) return false;
  const std::uint32_t pod_leaves = shape.rails * shape.groups_per_pod;
  shape.spines = divide_up(pod_leaves * shape.up, spine_down);
  while (shape.up % shape.spines != 0 || pod_leaves * (shape.up / shape.spines) > spine_down) ++shape.spines;
  shape.spine_up = pod_leaves * (shape.up / shape.spines);
  shape.cores_per_spine = spread(shape.spine_up, radix / shape.pods);
  return true;
}

FatTreeShape shape_of(const FabricRequest& request) {
  const FabricSpec& spec = request.spec;
  FatTreeShape base;
  if (spec.radix < 2) throw InputError(spec.name, "radix: a switch has at least 2 ports");
  base.up = static_cast<std::uint32_t>(static_cast<double>(spec.radix) / (1 + spec.oversubscription));
  base.down = static_cast<std::uint32_t>(std::floor(base.up * spec.oversubscription));
  if (base.up == 0) {
    throw UnfitRadix(spec, "leaves no up-links at this oversubscription");
  }
  if (request.nics_per_node == 1 && request.nodes <= spec.radix) base.down = spec.radix;
  base.groups = divide_up(request.nodes, base.down);

  FatTreeShape together = base;
  together.rails = request.nics_per_node;
  if (fits(together, spec.radix)) return together;
  FatTreeShape apart = base;
  apart.planes = request.nics_per_node;
  if (fits(apart, spec.radix)) return apart;
  const std::uint64_t most = std::uint64_t{spec.radix / 2} * spec.radix * base.down;
  throw UnfitRadix(spec, "is too small for " + std::to_string(request.nodes) +
                             " nodes: three levels of such switches join at most " + std::to_string(most));
}

/// Switches in order: leaves, spines, cores. Links in order: leaf up-links, then spine up-links, each up then down.
class RailFatTree final : public Fabric {
 public:
  explicit RailFatTree(const FabricRequest& request) : shape_(shape_of(request)), port_(request.port) {
    rails = true;
    may_block = request.spec.oversubscription > 1 || request.spec.routing != "adaptive";
    above_leaf_ = carried_by(request.spec, shape_.up);
    above_pod_ = carried_by(request.spec, static_cast<double>(shape_.spines) * shape_.spine_up);
    const Time hop = request.spec.cable_latency + request.spec.switch_latency;
    if (shares_paths(request.spec)) widen();
    switches = shape_.leaves() + shape_.all_spines() + shape_.all_cores();
    links.reserve(2 * (std::size_t{shape_.leaves()} * shape_.up + std::size_t{shape_.all_spines()} * shape_.spine_up));
    const auto join = [&](std::uint32_t below, std::uint32_t above, double width) {
      links.push_back({below, above, request.port * width, hop});
      links.push_back({above, below, request.port * width, hop});
    };
    for (std::uint32_t leaf = 0; leaf < shape_.leaves(); ++leaf) {
      for (std::uint32_t j = 0; j < shape_.up; ++j) {
        join(leaf, spine(pod_of(leaf), j % shape_.spines), shape_.width);
      }
    }
    for (std::uint32_t pod = 0; pod < shape_.planes * shape_.pods; ++pod) {
      for (std::uint32_t s = 0; s < shape_.spines; ++s) {
        for (std::uint32_t u = 0; u < shape_.spine_up; ++u) {
          join(spine(pod, s), core(pod / shape_.pods, s, u % shape_.cores_per_spine), shape_.spine_up_width);
        }
      }
    }
  }

  Device device(std::uint32_t index) const override {
    const auto place = [this](std::uint32_t plane) {
      return shape_.planes > 1 ? "plane " + std::to_string(plane) + " / " : std::string();
    };
    if (index < shape_.leaves()) {
      const std::uint32_t rail = plane_of(index) * shape_.rails + in_plane(index) % shape_.rails;
      return {"rail " + std::to_string(rail) + " / leaf " + std::to_string(group_of(index)), DeviceKind::leaf};
    }
    index -= shape_.leaves();
    if (index < shape_.all_spines()) {
      const std::uint32_t pod = index / shape_.spines;
      return {place(pod / shape_.pods) + "pod " + std::to_string(pod % shape_.pods) + " / spine " +
                  std::to_string(index % shape_.spines),
              DeviceKind::spine};
    }
    index -= shape_.all_spines();
    const std::uint32_t cores = shape_.spines * shape_.cores_per_spine;
    return {place(index / cores) + "core " + std::to_string(index % cores), DeviceKind::core};
  }

  std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const override {
    const std::uint32_t plane = nic / shape_.rails;
    return plane * shape_.rails * shape_.groups + node / shape_.down * shape_.rails + nic % shape_.rails;
  }

  bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const override {
    if (from == to) return true;
    if (shape_.up == 0 || plane_of(from) != plane_of(to)) return false;
    const std::uint32_t up = pick(flow, 0, shape_.up), s = up % shape_.spines;
    out.push_back(leaf_link(from, up));
    const std::uint32_t pod = pod_of(from), to_pod = pod_of(to);
    if (pod != to_pod) {
      const std::uint32_t climb = pick(flow, 1, shape_.spine_up), c = climb % shape_.cores_per_spine;
      out.push_back(spine_link(pod, s, climb));
      const std::uint32_t parallel = shape_.spine_up / shape_.cores_per_spine;
      out.push_back(spine_link(to_pod, s, c + shape_.cores_per_spine * pick(flow, 2, parallel)) + 1);
    }
    out.push_back(leaf_link(to, s + shape_.spines * pick(flow, 3, shape_.up / shape_.spines)) + 1);
    return true;
  }

  /// As a folded Clos network: what meets at each leaf, in each pod and above the pods (Leiserson, Fat-Trees, 1985).
  /// The leaves of all rails of a pod are alike.
  Bandwidth bisection(const Halves& halves) const override {
    Bandwidth met{};
    Unmet top;
    for (std::uint32_t pod = 0; pod < shape_.pods; ++pod) {
      Unmet below;
      const std::uint32_t last_group = std::min((pod + 1) * shape_.groups_per_pod, shape_.groups);
      for (std::uint32_t group = pod * shape_.groups_per_pod; group < last_group; ++group) {
        const std::uint64_t first = std::uint64_t{group} * shape_.down;
        const std::uint64_t last = std::min<std::uint64_t>(first + shape_.down, halves.nodes);
        Bandwidth at_leaf{};
        const Unmet nodes = wanted(first, last, halves.senders, halves.out, halves.in);
        below = below + meet(nodes, port_ * above_leaf_, at_leaf) * shape_.rails;
        met += at_leaf * shape_.rails;
      }
      top = top + meet(below, port_ * above_pod_, met);
    }
    meet(top, {}, met);
    return met * shape_.planes;
  }

 private:
  /// Equal-cost paths that share perfectly carry what one link as wide as all of them carries.
  void widen() {
    shape_.width = above_leaf_;
    shape_.spine_up_width = above_pod_;
    shape_.up = shape_.up > 0 ? 1 : 0;
    shape_.spine_up = shape_.spine_up > 0 ? 1 : 0;
    shape_.spines = shape_.spines > 0 ? 1 : 0;
    shape_.cores_per_spine = shape_.spine_up;
  }

  std::uint32_t plane_of(std::uint32_t leaf) const { return leaf / (shape_.rails * shape_.groups); }
  std::uint32_t in_plane(std::uint32_t leaf) const { return leaf % (shape_.rails * shape_.groups); }
  std::uint32_t group_of(std::uint32_t leaf) const { return in_plane(leaf) / shape_.rails; }
  std::uint32_t pod_of(std::uint32_t leaf) const {
    return plane_of(leaf) * shape_.pods + group_of(leaf) / shape_.groups_per_pod;
  }
  std::uint32_t spine(std::uint32_t pod, std::uint32_t s) const { return shape_.leaves() + pod * shape_.spines + s; }
  std::uint32_t core(std::uint32_t plane, std::uint32_t s, std::uint32_t c) const {
    return shape_.leaves() + shape_.all_spines() + (plane * shape_.spines + s) * shape_.cores_per_spine + c;
  }
  std::uint32_t leaf_link(std::uint32_t leaf, std::uint32_t j) const { return 2 * (leaf * shape_.up + j); }
  std::uint32_t spine_link(std::uint32_t pod, std::uint32_t s, std::uint32_t u) const {
    return 2 * (shape_.leaves() * shape_.up + (pod * shape_.spines + s) * shape_.spine_up + u);
  }

  FatTreeShape shape_;
  Bandwidth port_{};
  double above_leaf_ = 0, above_pod_ = 0;  ///< physical links that lead up from one
};

std::unique_ptr<const Fabric> build_rail_fat_tree(const FabricRequest& request) {
  return std::make_unique<RailFatTree>(request);
}

constexpr std::array<std::string_view, 5> kReads = {"radix", "oversubscription", "routing", "seed", "spray_efficiency"};

}  // namespace

extern const FabricBuilder rail_fat_tree_fabric;
constinit const FabricBuilder rail_fat_tree_fabric{
    .name = "rail-fat-tree",
    .summary = "NIC i of every node on leaf switches of rail i, under spines and, where needed, cores",
    .source = "NVIDIA DGX SuperPOD reference architecture RA-09950-001, compute fabric; Leiserson, Fat-Trees, 1985",
    .reads = kReads,
    .build = build_rail_fat_tree};

}  // namespace stepcast::topology
