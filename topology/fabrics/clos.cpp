#include "topology/fabrics/clos.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "sim/input_error.h"
#include "topology/fabrics/sharing.h"
#include "topology/fabrics/tree_flow.h"
#include "topology/random_pick.h"
#include "topology/unfit_radix.h"

namespace stepcast::topology {

namespace {

constexpr std::uint32_t kMostLevels = 6;

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

ClosShape clos_shape(const FabricSpec& spec, std::uint32_t ends, std::uint32_t planes) {
  if (spec.radix < 2) throw InputError(spec.name, "radix: a switch has at least 2 ports");
  if (spec.levels > kMostLevels) throw InputError(spec.name, "levels: at most " + std::to_string(kMostLevels));
  ClosShape shape{.down = {}, .up = {}, .planes = planes};
  if ((spec.levels == 0 && ends <= spec.radix) || spec.levels == 1) {
    if (ends > spec.radix) {
      throw UnfitRadix(spec, "is too small for " + std::to_string(ends) + " NICs on one level");
    }
    shape.down = {ends};
    shape.up = {0};
    return shape;
  }
  const auto leaf_up = static_cast<std::uint32_t>(static_cast<double>(spec.radix) / (1 + spec.oversubscription));
  const auto leaf_down = static_cast<std::uint32_t>(std::floor(leaf_up * spec.oversubscription));
  const std::uint32_t half = spec.radix / 2;
  if (leaf_up == 0 || leaf_down == 0) {
    throw UnfitRadix(spec, "leaves no up-links at this oversubscription");
  }
  std::uint32_t remaining = divide_up(ends, leaf_down);
  shape.down = {leaf_down};
  shape.up = {leaf_up};
  const std::uint32_t levels = spec.levels == 0 ? kMostLevels : spec.levels;
  for (std::uint32_t level = 1; level < levels; ++level) {
    const bool top = spec.levels == 0 ? remaining <= spec.radix : level + 1 == levels;
    if (top && remaining <= spec.radix) {
      shape.down.push_back(remaining);
      shape.up.push_back(0);
      return shape;
    }
    if (top) break;
    shape.down.push_back(half);
    shape.up.push_back(half);
    remaining = divide_up(remaining, half);
  }
  throw UnfitRadix(spec, "is too small for " + std::to_string(ends) + " NICs on " + std::to_string(levels) + " levels");
}

Clos::Clos(const FabricRequest& request, ClosShape shape)
    : shape_(std::move(shape)), nics_(request.nics_per_node), port_(request.port) {
  rails = shape_.planes > 1;
  may_block = request.spec.oversubscription > 1 || request.spec.routing != "adaptive";
  for (const std::uint32_t up : shape_.up) above_.push_back((above_.empty() ? 1 : above_.back()) * up);
  for (double& ways : above_) ways = carried_by(request.spec, ways);
  std::vector<double> width(levels(), 1.0);
  if (shares_paths(request.spec)) {
    width = above_;
    for (std::uint32_t& up : shape_.up) up = std::min(up, 1u);
  }
  trees_.assign(levels(), 1);
  copies_.assign(levels(), 1);
  for (std::uint32_t level = levels() - 1; level > 0; --level) trees_[level - 1] = trees_[level] * shape_.down[level];
  for (std::uint32_t level = 1; level < levels(); ++level) copies_[level] = copies_[level - 1] * shape_.up[level - 1];
  std::uint32_t links_of_plane = 0, switches_of_plane = 0;
  for (std::uint32_t level = 0; level < levels(); ++level) {
    first_switch_.push_back(switches_of_plane);
    first_link_.push_back(links_of_plane);
    switches_of_plane += trees_[level] * copies_[level];
    links_of_plane += 2 * trees_[level] * copies_[level] * shape_.up[level];
  }
  first_switch_.push_back(switches_of_plane);
  first_link_.push_back(links_of_plane);
  switches = shape_.planes * switches_of_plane;
  const Time hop = request.spec.cable_latency + request.spec.switch_latency;
  for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
    const std::uint32_t base = plane * switches_of_plane;
    for (std::uint32_t level = 0; level + 1 < levels(); ++level) {
      for (std::uint32_t place = 0; place < trees_[level] * copies_[level]; ++place) {
        const std::uint32_t tree = place / copies_[level], copy = place % copies_[level];
        for (std::uint32_t up = 0; up < shape_.up[level]; ++up) {
          const std::uint32_t below = base + first_switch_[level] + place;
          const std::uint32_t above = base + first_switch_[level + 1] +
                                      tree / shape_.down[level + 1] * copies_[level + 1] + copy * shape_.up[level] + up;
          links.push_back({below, above, request.port * width[level], hop});
          links.push_back({above, below, request.port * width[level], hop});
        }
      }
    }
  }
}

Device Clos::device(std::uint32_t index) const {
  static constexpr std::array<std::string_view, 3> kNames = {"leaf", "spine", "core"};
  const std::uint32_t plane = index / first_switch_.back(), place = index % first_switch_.back();
  std::uint32_t level = 0;
  while (place >= first_switch_[level + 1]) ++level;
  std::string name = shape_.planes > 1 ? "rail " + std::to_string(plane) + " / " : std::string();
  name += level < kNames.size() ? std::string(kNames[level]) : "level " + std::to_string(level);
  name += ' ';
  name += std::to_string(place - first_switch_[level]);
  return {name, level == 0 ? DeviceKind::leaf : level == 1 ? DeviceKind::spine : DeviceKind::core};
}

std::uint32_t Clos::switch_of(std::uint32_t node, std::uint32_t nic) const {
  if (shape_.planes > 1) return nic * first_switch_.back() + node / shape_.down[0];
  return (node * nics_ + nic) / shape_.down[0];
}

std::uint32_t Clos::link(std::uint32_t plane, std::uint32_t level, std::uint32_t place, std::uint32_t parent) const {
  return plane * first_link_.back() + first_link_[level] + 2 * (place * shape_.up[level] + parent);
}

bool Clos::route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const {
  const std::uint32_t plane = from / first_switch_.back();
  if (plane != to / first_switch_.back()) return false;
  std::uint32_t a = from % first_switch_.back(), b = to % first_switch_.back();
  std::array<std::uint32_t, kMostLevels> down{};
  std::uint32_t level = 0, copy = 0;
  while (a != b) {
    const std::uint32_t up = pick(flow, level, shape_.up[level]);
    out.push_back(link(plane, level, a * copies_[level] + copy, up));
    down[level] = link(plane, level, b * copies_[level] + copy, up) + 1;
    copy = copy * shape_.up[level] + up;
    ++level;
    a /= shape_.down[level];
    b /= shape_.down[level];
  }
  while (level > 0) out.push_back(down[--level]);
  return true;
}

Bandwidth Clos::bisection(const Halves& halves) const {
  const std::uint64_t of_node = shape_.planes > 1 ? 1 : nics_;
  const std::uint64_t ends = halves.nodes * of_node, senders = halves.senders * of_node;
  Bandwidth met{};
  std::vector<Unmet> below;
  for (std::uint64_t first = 0; first < ends; first += shape_.down[0]) {
    const std::uint64_t last = std::min<std::uint64_t>(first + shape_.down[0], ends);
    below.push_back(meet(wanted(first, last, senders, halves.out, halves.in), port_ * above_[0], met));
  }
  for (std::uint32_t level = 1; level < levels(); ++level) {
    std::vector<Unmet> here;
    for (std::size_t first = 0; first < below.size(); first += shape_.down[level]) {
      Unmet children;
      for (std::size_t i = first; i < std::min<std::size_t>(first + shape_.down[level], below.size()); ++i)
        children = children + below[i];
      here.push_back(meet(children, port_ * above_[level], met));
    }
    below = std::move(here);
  }
  return met * shape_.planes;
}

}  // namespace stepcast::topology
