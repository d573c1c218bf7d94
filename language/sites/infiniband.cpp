#include "language/sites/infiniband.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

#include "language/core/type.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

/// A speed of InfiniBand: what a lane signals, and what of that is data.
struct LaneSpeed {
  std::string_view name;
  double signal_gbit, data_gbit;
};
constexpr std::array<LaneSpeed, 9> kLaneSpeeds{{{"SDR", 2.5, 2},
                                                {"DDR", 5, 4},
                                                {"QDR", 10, 8},
                                                {"FDR10", 10.3125, 10},
                                                {"FDR", 14.0625, 14.0625 * 64 / 66},
                                                {"EDR", 25.78125, 25},
                                                {"HDR", 53.125, 50},
                                                {"NDR", 106.25, 100},
                                                {"XDR", 212.5, 200}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a name comes before another where numbers inside them count as numbers: mlx5_9 before mlx5_10.
bool comes_before(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t of_a = i, of_b = j;
      while (i < a.size() && is_digit(a[i])) ++i;
      while (j < b.size() && is_digit(b[j])) ++j;
      const auto without_zeros = [](std::string_view digits) {
        const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
        return digits.substr(first);
      };
      const std::string_view left = without_zeros(a.substr(of_a, i - of_a));
      const std::string_view right = without_zeros(b.substr(of_b, j - of_b));
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return std::tuple(a.size() - i, a) < std::tuple(b.size() - j, b);
}

/// The name that a switch's administrator gave it: "leaf01" of "MF0;leaf01:MQM9700/U1", and what follows the first part
/// of its model, which tells the parts of one chassis apart. What no list of names may hold is a dash.
std::string switch_name(const std::string& description) {
  std::string name = description;
  if (const std::size_t semicolon = name.find(';'); semicolon != std::string::npos) {
    name = name.substr(semicolon + 1);
    if (const std::size_t colon = name.rfind(':'); colon != std::string::npos) {
      const std::size_t slash = name.find('/', colon);
      const std::string part = slash == std::string::npos ? "" : name.substr(slash);
      name = name.substr(0, colon) + (part == "/U1" ? "" : part);
    }
  }
  std::string out;
  for (const char c : name) {
    const bool plain = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
    if (plain || (!out.empty() && out.back() != '-')) out += plain ? c : '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "switch" : out;
}

/// An adapter of a node, by what Linux calls both.
struct NodeAdapter {
  std::string node, adapter;
};

std::optional<NodeAdapter> node_adapter(const std::string& description) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < description.size();) {
    const std::size_t begin = description.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    at = std::min(description.find(' ', begin), description.size());
    words.push_back(description.substr(begin, at - begin));
  }
  if (words.empty() || words.size() > 2) return std::nullopt;
  try {
    if (topology::expand_hostlist(words[0]) != std::vector{words[0]}) return std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
  return NodeAdapter{words[0], words.size() > 1 ? words[1] : ""};
}

/// Puts a site together of the switches and adapters of one fabric.
class FabricReader {
 public:
  FabricReader(const InfinibandFabric& fabric, const std::vector<std::string>& hcas, const std::string& file)
      : fabric_(fabric), hcas_(hcas.begin(), hcas.end()), file_(file) {}

  Site read() {
    name_switches();
    split_links();
    if (names_.empty()) throw InputError(file_, "found no switch, expected some");
    if (plugs_.empty())
      throw InputError(file_, hcas_.empty() ? "found no adapter on a switch that is named after its node, as 'gpu001 "
                                              "mlx5_0'; expected some"
                                            : "found none of the adapters of --hcas on a switch, expected some");
    plug_in();
    find_levels();
    for (const std::string& device : in_order()) put_switch(device);
    put_cables();
    remark();
    site_.choose_cards = "--hcas names the adapters that count, such as 'mlx5_[0,3-6]'";
    return std::move(site_);
  }

 private:
  struct CabledCard {
    std::string adapter;
    std::uint32_t port = 0;
    std::string at;  ///< the switch's key
    Bandwidth bandwidth{};
  };

  void name_switches() {
    std::map<std::string, std::uint32_t> named;
    for (const auto& [key, device] : fabric_.devices)
      if (device.is_switch) ++named[switch_name(device.description)];
    for (const auto& [key, device] : fabric_.devices) {
      if (!device.is_switch) continue;
      const std::string name = switch_name(device.description);
      names_[key] = named[name] > 1 ? name + "-" + key : name;
    }
  }

  /// Links between switches, each once, and those to nodes.
  void split_links() {
    std::set<std::pair<InfinibandPort, InfinibandPort>> seen;
    for (const InfinibandLink& link : fabric_.links) {
      const auto ends = std::minmax(link.from, link.to);
      if (!seen.insert({ends.first, ends.second}).second) continue;
      const bool from = fabric_.devices.at(link.from.device).is_switch;
      const bool to = fabric_.devices.at(link.to.device).is_switch;
      if (from && to) {
        if (link.from.device != link.to.device) between_.push_back(&link);
      } else if (from != to) {
        plug(from ? link.to : link.from, from ? link.from.device : link.to.device, link.bandwidth);
      }
    }
  }

  void plug(const InfinibandPort& adapter, const std::string& at, Bandwidth bandwidth) {
    const std::string& description = fabric_.devices.at(adapter.device).description;
    const std::optional<NodeAdapter> named = node_adapter(description);
    if (!named) {
      ++of_no_node_[description];
      return;
    }
    if (!hcas_.empty() && !hcas_.contains(named->adapter)) {
      ++passed_over_;
      return;
    }
    plugs_[named->node].push_back({named->adapter, adapter.number, at, bandwidth});
  }

  /// Numbers each node's cards.
  void plug_in() {
    for (auto& [node, plugs] : plugs_) {
      std::ranges::stable_sort(plugs, [](const CabledCard& a, const CabledCard& b) {
        return a.adapter != b.adapter ? comes_before(a.adapter, b.adapter) : a.port < b.port;
      });
      SiteCards& cards = site_.cards[node];
      cards.count = static_cast<std::uint32_t>(plugs.size());
      cards.slowest = plugs.front().bandwidth;
      std::map<std::string, std::vector<std::uint32_t>> on;  // switch: cards
      for (std::uint32_t nic = 0; nic < plugs.size(); ++nic) {
        on[plugs[nic].at].push_back(nic);
        cards.slowest = std::min(cards.slowest, plugs[nic].bandwidth);
      }
      for (auto& [at, nics] : on) nodes_on_[at][nics.size() == plugs.size() ? kAllCards : nics].push_back(node);
    }
  }

  /// [switch]: cables to the nearest with nodes.
  void find_levels() {
    std::map<std::string, std::vector<std::string>> near;
    for (const InfinibandLink* link : between_) {
      near[link->from.device].push_back(link->to.device);
      near[link->to.device].push_back(link->from.device);
    }
    std::vector<std::string> queue;
    for (const auto& [at, nodes] : nodes_on_) {
      level_[at] = 0;
      queue.push_back(at);
    }
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const std::string& next : near[queue[i]])
        if (level_.emplace(next, level_[queue[i]] + 1).second) queue.push_back(next);
  }

  bool above(const std::string& a, const std::string& b) const {
    const std::uint32_t of_a = level_.at(a), of_b = level_.at(b);
    return of_a != of_b ? of_a < of_b : comes_before(names_.at(a), names_.at(b));
  }

  /// Switches that nodes reach: leaf switches first, each level by name.
  std::vector<std::string> in_order() const {
    std::vector<std::string> all;
    for (const auto& [at, level] : level_) all.push_back(at);
    std::ranges::sort(all, [&](const std::string& a, const std::string& b) { return above(a, b); });
    return all;
  }

  void put_switch(const std::string& device) {
    const Place& place = fabric_.devices.at(device).place;
    const auto nodes = nodes_on_.find(device);
    if (nodes == nodes_on_.end()) {
      site_.switches.push_back({names_.at(device), {}, {}, place});
      return;
    }
    for (auto& [nics, names] : nodes->second) {
      std::vector<std::string> sorted = names;
      std::ranges::sort(sorted, [](const std::string& a, const std::string& b) { return comes_before(a, b); });
      site_.switches.push_back({names_.at(device), std::move(sorted), nics, place});
    }
  }

  void put_cables() {
    std::map<std::tuple<std::string, std::string, double>, SiteCables> all;
    for (const InfinibandLink* link : between_) {
      if (!level_.contains(link->from.device)) continue;  // no node reaches it
      const bool up = above(link->from.device, link->to.device);
      const std::string& below = up ? link->from.device : link->to.device;
      const std::string& over = up ? link->to.device : link->from.device;
      const auto [cable, fresh] =
          all.emplace(std::tuple(below, over, link->bandwidth.value),
                      SiteCables{names_.at(below), names_.at(over), link->bandwidth, 0, link->place});
      ++cable->second.count;
    }
    for (auto& [ends, cables] : all) site_.cables.push_back(std::move(cables));
    std::ranges::stable_sort(site_.cables, [](const SiteCables& a, const SiteCables& b) {
      return a.below != b.below ? comes_before(a.below, b.below) : comes_before(a.above, b.above);
    });
  }

  void remark() {
    site_.remarks.emplace_back("Card i of a node is the i-th of its adapters, in the order of their names.");
    if (passed_over_ > 0)
      site_.remarks.push_back("Left out, as --hcas does not name them: " + std::to_string(passed_over_) +
                              " adapters' ports.");
    for (const auto& [description, count] : of_no_node_)
      site_.remarks.push_back("Left out, as its description names no node: " + in_quotes(description) + " (" +
                              std::to_string(count) + (count == 1 ? " port)." : " ports)."));
  }

  static inline const std::vector<std::uint32_t> kAllCards{};

  const InfinibandFabric& fabric_;
  const std::set<std::string> hcas_;
  const std::string& file_;
  std::map<std::string, std::string> names_;  ///< of switches, by key
  std::vector<const InfinibandLink*> between_;
  std::map<std::string, std::vector<CabledCard>> plugs_;  ///< by node
  /// [switch][cards]: nodes of which these cards are on it.
  std::map<std::string, std::map<std::vector<std::uint32_t>, std::vector<std::string>>> nodes_on_;
  std::map<std::string, std::uint32_t> level_;
  std::map<std::string, std::uint32_t> of_no_node_;  ///< ports, by description
  std::uint32_t passed_over_ = 0;
  Site site_;
};

}  // namespace

std::optional<Bandwidth> infiniband_bandwidth(std::string_view width, std::string_view speed) {
  static constexpr std::array<std::uint32_t, 5> kWidths{1, 2, 4, 8, 12};
  std::uint32_t lanes = 0;
  const char* const end = width.data() + width.size();
  const auto [rest, error] = std::from_chars(width.data(), end, lanes);
  if (error != std::errc{} || end - rest != 1 || (*rest != 'x' && *rest != 'X')) return std::nullopt;
  if (std::ranges::find(kWidths, lanes) == kWidths.end()) return std::nullopt;
  for (const LaneSpeed& each : kLaneSpeeds)
    if (each.name == speed) return Bandwidth{each.data_gbit * lanes * 1e9 / 8};
  return std::nullopt;
}

std::optional<std::string_view> infiniband_speed(double lane_gbit) {
  constexpr double kRounded = 0.001;  // "25.78" for 25.78125
  for (const LaneSpeed& each : kLaneSpeeds)
    if (std::abs(lane_gbit / each.signal_gbit - 1) < kRounded) return each.name;
  return std::nullopt;
}

Site site_of_infiniband(const InfinibandFabric& fabric, const std::vector<std::string>& hcas, const std::string& file) {
  return FabricReader(fabric, hcas, file).read();
}

}  // namespace stepcast::language
