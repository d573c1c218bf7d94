#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "sim/input_error.h"
#include "topology/fabrics.h"
#include "topology/fabrics/sharing.h"
#include "topology/fabrics/tree_flow.h"
#include "topology/random_pick.h"
#include "topology/unfit_radix.h"

namespace stepcast::topology {

namespace {

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

/// How many of everything. Adaptive routing sees the spines of a group as one, and all links between two groups too.
struct DragonflyShape {
  std::uint32_t groups = 1, leaves = 1, spines = 0;  ///< leaves and spines of one group
  std::uint32_t down = 1;                            ///< NICs of one leaf
  std::uint32_t ports = 1;                           ///< global links of one spine
  std::uint32_t between = 0;                         ///< links between two groups
  double leaf_width = 1, global_width = 1;           ///< physical links in one of ours
};

DragonflyShape shape_of(const FabricRequest& request) {
  const FabricSpec& spec = request.spec;
  if (spec.radix < 2) throw InputError(spec.name, "radix: a switch has at least 2 ports");
  DragonflyShape shape;
  const auto up = static_cast<std::uint32_t>(static_cast<double>(spec.radix) / (1 + spec.oversubscription));
  if (up == 0) {
    throw UnfitRadix(spec, "leaves no up-links at this oversubscription");
  }
  shape.down = spec.radix - up;
  const std::uint32_t most_leaves = spec.radix / 2;
  const std::uint64_t ends = std::uint64_t{request.nodes} * request.nics_per_node;
  const auto leaves = static_cast<std::uint32_t>((ends + shape.down - 1) / shape.down);
  shape.groups = std::max({1u, spec.groups, divide_up(leaves, most_leaves)});
  shape.leaves = divide_up(leaves, shape.groups);
  shape.groups = std::max(1u, divide_up(leaves, shape.leaves));
  shape.spines = up;
  shape.ports = spec.radix - most_leaves;
  if (shape.groups > 1) {
    shape.between = shape.spines * shape.ports / (shape.groups - 1);
    if (shape.between == 0) {
      throw UnfitRadix(spec, "is too small for " + std::to_string(shape.groups) + " groups: each has " +
                                 std::to_string(shape.spines * shape.ports) + " global links");
    }
  }
  if (shares_paths(spec)) {
    shape.leaf_width = carried_by(spec, shape.spines);
    shape.global_width = carried_by(spec, shape.between);
    shape.spines = 1;
    shape.between = std::min(shape.between, 1u);
    shape.ports = std::max(1u, shape.groups - 1);
  }
  return shape;
}

/// Switches: group by group its leaves, then its spines. Links: leaf to spine, then group to group, each both ways.
class DragonflyPlus final : public Fabric {
 public:
  explicit DragonflyPlus(const FabricRequest& request)
      : shape_(shape_of(request)), nics_(request.nics_per_node), port_(request.port) {
    above_leaf_ = shape_.leaf_width * shape_.spines;
    between_ = shape_.global_width * shape_.between;
    switches = shape_.groups * of_group();
    const Time hop = request.spec.cable_latency + request.spec.switch_latency;
    const auto join = [&](std::uint32_t a, std::uint32_t b, double width) {
      links.push_back({a, b, request.port * width, hop});
      links.push_back({b, a, request.port * width, hop});
    };
    for (std::uint32_t g = 0; g < shape_.groups; ++g) {
      for (std::uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
        for (std::uint32_t s = 0; s < shape_.spines; ++s) join(g * of_group() + leaf, spine(g, s), shape_.leaf_width);
      }
    }
    for (std::uint32_t g = 0; g < shape_.groups; ++g) {
      for (std::uint32_t h = g + 1; h < shape_.groups; ++h) {
        for (std::uint32_t t = 0; t < shape_.between; ++t) {
          join(gate(g, h, t), gate(h, g, t), shape_.global_width);
        }
      }
    }
  }

  Device device(std::uint32_t index) const override {
    const std::uint32_t place = index % of_group();
    const bool leaf = place < shape_.leaves;
    return {"group " + std::to_string(index / of_group()) + (leaf ? " / leaf " : " / spine ") +
                std::to_string(leaf ? place : place - shape_.leaves),
            leaf ? DeviceKind::leaf : DeviceKind::spine};
  }

  std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const override {
    const std::uint32_t leaf = (node * nics_ + nic) / shape_.down;
    return leaf / shape_.leaves * of_group() + leaf % shape_.leaves;
  }

  /// Minimal: at most one link between groups.
  bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const override {
    if (from == to) return true;
    const std::uint32_t g = from / of_group(), h = to / of_group();
    if (g == h) {
      const std::uint32_t s = pick(flow, 0, shape_.spines);
      out.push_back(local(from, s));
      out.push_back(local(to, s) + 1);
      return true;
    }
    const std::uint32_t t = pick(flow, 1, shape_.between);
    out.push_back(local(from, gate(g, h, t) - spine(g, 0)));
    out.push_back(global(g, h, t));
    out.push_back(local(to, gate(h, g, t) - spine(h, 0)) + 1);
    return true;
  }

  /// Inside a group, what meets at its leaves and its spines. Groups are a complete graph of equally wide links, so a
  /// cut is known by how many senders and receivers it has on the near side, the richest senders and the poorest
  /// receivers: the least of all such cuts. Spines count as one; hashed ones, each of which reaches some groups only,
  /// may carry less.
  Bandwidth bisection(const Halves& halves) const override {
    Bandwidth met{};
    std::vector<Bandwidth> senders, receivers;
    const std::uint64_t ends = std::uint64_t{halves.nodes} * nics_;
    for (std::uint64_t group = 0; group < shape_.groups; ++group) {
      Unmet below;
      for (std::uint64_t leaf = group * shape_.leaves; leaf < (group + 1) * shape_.leaves; ++leaf) {
        const std::uint64_t first = std::min(leaf * shape_.down, ends), last = std::min(first + shape_.down, ends);
        const Unmet nics = wanted(first, last, std::uint64_t{halves.senders} * nics_, halves.out, halves.in);
        below = below + meet(nics, port_ * above_leaf_, met);
      }
      const Unmet rest = meet(below, Bandwidth{std::numeric_limits<double>::infinity()}, met);
      (rest.out.value > 0 ? senders : receivers).push_back(std::max(rest.out, rest.in));
    }
    std::ranges::sort(senders, std::greater{});
    std::ranges::sort(receivers);
    Bandwidth least{std::numeric_limits<double>::infinity()};
    Bandwidth far_senders = std::accumulate(senders.begin(), senders.end(), Bandwidth{});
    for (std::size_t s = 0; s <= senders.size(); ++s) {
      Bandwidth near_receivers{};
      for (std::size_t r = 0; r <= receivers.size(); ++r) {
        const double near = static_cast<double>(s + r), far = shape_.groups - near;
        least = std::min(least, far_senders + near_receivers + port_ * (between_ * near * far));
        if (r < receivers.size()) near_receivers += receivers[r];
      }
      if (s < senders.size()) far_senders -= senders[s];
    }
    return met + least;
  }

 private:
  std::uint32_t of_group() const { return shape_.leaves + shape_.spines; }
  std::uint32_t spine(std::uint32_t g, std::uint32_t s) const { return g * of_group() + shape_.leaves + s; }
  /// The spine of group g on which its link t to group h ends.
  std::uint32_t gate(std::uint32_t g, std::uint32_t h, std::uint32_t t) const {
    const std::uint32_t port = (h < g ? h : h - 1) * shape_.between + t;
    return spine(g, port / shape_.ports);
  }
  std::uint32_t local(std::uint32_t leaf, std::uint32_t s) const {
    return 2 * ((leaf / of_group() * shape_.leaves + leaf % of_group()) * shape_.spines + s);
  }
  std::uint32_t global(std::uint32_t g, std::uint32_t h, std::uint32_t t) const {
    const std::uint32_t a = std::min(g, h), b = std::max(g, h);
    const std::uint32_t pair = a * (2 * shape_.groups - a - 1) / 2 + (b - a - 1);
    return 2 * (shape_.groups * shape_.leaves * shape_.spines + pair * shape_.between + t) + (g < h ? 0 : 1);
  }

  DragonflyShape shape_;
  std::uint32_t nics_;
  Bandwidth port_{};
  double above_leaf_ = 0, between_ = 0;  ///< physical links from a leaf to its spines, and between two groups
};

std::unique_ptr<const Fabric> build_dragonfly_plus(const FabricRequest& request) {
  return std::make_unique<DragonflyPlus>(request);
}

constexpr std::array<std::string_view, 6> kReads = {"radix",   "groups", "oversubscription",
                                                    "routing", "seed",   "spray_efficiency"};

}  // namespace

extern const FabricBuilder dragonfly_plus_fabric;
constinit const FabricBuilder dragonfly_plus_fabric{
    .name = "dragonfly-plus",
    .summary = "groups of leaves under spines, each two groups joined by their spines, minimal routes",
    .source = "Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017",
    .reads = kReads,
    .build = build_dragonfly_plus};

}  // namespace stepcast::topology
