#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "sim/input_error.h"
#include "topology/dimensions.h"
#include "topology/fabrics.h"
#include "topology/random_pick.h"

namespace stepcast::topology {

namespace {

/// One router per node, joined to its neighbours by links as wide as one NIC's cable. Dimension by dimension, the
/// shorter way round; half way round, adaptive routing goes up and hashed routing draws.
class Torus final : public Fabric {
 public:
  Torus(const FabricRequest& request, Grid grid)
      : grid_(std::move(grid)),
        hash_(request.spec.routing == "hash"),
        nics_(request.nics_per_node),
        port_(request.port) {
    switches = grid_.size();
    const Time hop = request.spec.cable_latency + request.spec.switch_latency;
    for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
      first_link_.push_back(static_cast<std::uint32_t>(links.size()));
      if (grid_.side(d) == 1) continue;
      for (std::uint32_t place = 0; place < switches; ++place) {
        const std::uint32_t next = grid_.moved(place, d, (grid_.at(place, d) + 1) % grid_.side(d));
        links.push_back({place, next, request.port, hop});
        links.push_back({next, place, request.port, hop});
      }
    }
  }

  Device device(std::uint32_t index) const override { return {"router " + grid_.name(index), DeviceKind::leaf}; }
  std::uint32_t switch_of(std::uint32_t node, std::uint32_t) const override { return node; }

  bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const override {
    const auto shorter = [&](std::uint32_t d, std::uint32_t x, std::uint32_t target) {
      const std::uint32_t twice = 2 * grid_.forward(d, x, target), side = grid_.side(d);
      return twice == side ? !hash_ || pick(flow, d, 2) == 0 : twice < side;
    };
    grid_.walk(from, to, shorter, [&](std::uint32_t d, bool up, std::uint32_t at, std::uint32_t next) {
      out.push_back(first_link_[d] + 2 * (up ? at : next) + (up ? 0 : 1));
    });
    return true;
  }

  /// Cuts the first x routers off from the others, in each block of the first dimensions that holds all nodes: the
  /// links that it crosses, and the NICs that it puts on the wrong side, for the best x. With an even last side and all
  /// routers in use that is two layers of the other sides (Dally and Towles, section 5.2.1). Where some routers
  /// have no node and the last side is not the longest, other cuts may be less.
  Bandwidth bisection(const Halves& halves) const override {
    Bandwidth least{std::numeric_limits<double>::infinity()};
    std::uint32_t block = 1;
    for (std::uint32_t dimensions = 1; dimensions <= grid_.dimensions(); ++dimensions) {
      block *= grid_.side(dimensions - 1);
      if (block < halves.nodes) continue;
      for (std::uint32_t x = 0; x <= block; ++x) {
        const double send = nics_ * (halves.senders - std::min(x, halves.senders));
        const double receive = nics_ * (std::clamp(x, halves.senders, halves.nodes) - halves.senders);
        const double links_out = crossed(x, dimensions) * (switches / block);
        least = std::min(least, halves.out * send + halves.in * receive + port_ * links_out);
      }
    }
    return least;
  }

 private:
  /// Links from the first x routers of a block of so many dimensions to the others of it.
  double crossed(std::uint32_t x, std::uint32_t dimensions) const {
    double links_out = 0;
    std::uint32_t layer = 1;  // routers that differ in lower dimensions only
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      const std::uint32_t side = grid_.side(d), rest = x % (layer * side);
      // Rings along d through the layer that the cut goes through: rest / layer of their routers are inside, of the
      // first `more` rings one more. Whole rings and empty ones are not crossed, any other twice.
      const std::uint32_t more = rest % layer;
      const auto ring = [side](std::uint32_t inside) { return inside == 0 || inside == side ? 0.0 : 2.0; };
      if (side > 1) links_out += more * ring(rest / layer + 1) + (layer - more) * ring(rest / layer);
      layer *= side;
    }
    return links_out;
  }

  Grid grid_;
  bool hash_;
  double nics_;
  Bandwidth port_{};
  std::vector<std::uint32_t> first_link_;  ///< [dimension]
};

std::unique_ptr<const Fabric> build_torus_fabric(const FabricRequest& request) {
  Grid grid(parse_sides(request.spec.torus, request.spec.name));
  if (request.spec.routing == "spray") {
    throw InputError(request.spec.name,
                     "routing: found 'spray', expected adaptive or hash: a torus goes dimension by "
                     "dimension, which leaves a packet no choice");
  }
  if (grid.size() < request.nodes) {
    throw InputError(request.spec.name, "torus: '" + request.spec.torus + "' has " + std::to_string(grid.size()) +
                                            " places for " + std::to_string(request.nodes) + " nodes");
  }
  return std::make_unique<Torus>(request, std::move(grid));
}

constexpr std::array<std::string_view, 3> kReads = {"torus", "routing", "seed"};

void check_torus_sides(const FabricSpec& spec, std::uint32_t nodes) {
  const std::optional<std::vector<std::uint32_t>> sides = read_sides(spec.torus);
  const std::string found = "found '" + spec.torus + "'";
  if (!sides)
    throw InputError("", "torus: " + (spec.torus.empty() ? "missing, with kind torus" : found) +
                             ", expected two or three sides such as '16x16' or '4x4x8'");
  const std::uint32_t places = Grid(*sides).size();
  if (places < nodes)
    throw InputError("", "torus: " + found + ", which has a router for " + std::to_string(places) + " of the " +
                             std::to_string(nodes) + " nodes, expected one for each");
}

}  // namespace

extern const FabricBuilder torus_fabric;
constinit const FabricBuilder torus_fabric{
    .name = "torus",
    .summary = "a router per node, in rings of two or three dimensions",
    .source = "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapters 5 and 8",
    .reads = kReads,
    .sprays_nothing = "which goes dimension by dimension and leaves a packet no choice",
    .check = check_torus_sides,
    .build = build_torus_fabric};

}  // namespace stepcast::topology
