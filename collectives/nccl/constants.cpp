#include "collectives/nccl/constants.h"

#include <charconv>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::collectives::nccl {
namespace {

Time us(double microseconds) { return from_seconds(microseconds * 1e-6); }
ByProtocol<Time> us(double ll, double ll128, double simple) { return {us(ll), us(ll128), us(simple)}; }
ByProtocol<Time> only_simple(double microseconds) { return us(0, 0, microseconds); }
BySpread<Bandwidth> gb(double one, double two, double more) {
  return {Bandwidth{one * 1e9}, Bandwidth{two * 1e9}, Bandwidth{more * 1e9}};
}
BySpread<Bandwidth> gb(double all) { return gb(all, all, all); }

/// 2.30.7, tuning.cc lines 139 to 215.
Constants newest() {
  Constants c;
  c.from = "2.28.9";
  c.base[at(Algo::ring)] = us(6.6, 14, 8.4);
  c.base[at(Algo::tree)] = us(6.8, 14, 8.4);
  c.base[at(Algo::pat)] = us(8, 8, 8);

  auto& nvlink = c.hop[at(Hardware::nvlink)];
  nvlink[at(Algo::tree)] = us(0.6, 1.25, 4.0);
  nvlink[at(Algo::ring)] = us(0.6, 1.9, 3.4);
  nvlink[at(Algo::collnet_direct)] = only_simple(3.7);
  nvlink[at(Algo::collnet_chain)] = only_simple(2.8);
  nvlink[at(Algo::nvls)] = only_simple(25);
  nvlink[at(Algo::nvls_tree)] = only_simple(25);
  nvlink[at(Algo::pat)] = only_simple(4);
  auto& pcie = c.hop[at(Hardware::pcie)];
  pcie[at(Algo::tree)] = us(1.0, 1.9, 4.0);
  pcie[at(Algo::ring)] = us(1.0, 2.5, 5.7);
  pcie[at(Algo::collnet_direct)] = only_simple(3.7);
  pcie[at(Algo::collnet_chain)] = only_simple(2.8);
  pcie[at(Algo::pat)] = only_simple(4);
  auto& network = c.hop[at(Hardware::network)];
  network[at(Algo::tree)] = us(5.0, 8.5, 14);
  network[at(Algo::ring)] = us(2.7, 4.0, 14);
  network[at(Algo::collnet_direct)] = only_simple(31);
  network[at(Algo::collnet_chain)] = only_simple(30);
  network[at(Algo::nvls)] = only_simple(18);
  network[at(Algo::nvls_tree)] = only_simple(20.9);
  network[at(Algo::pat)] = only_simple(14);

  constexpr std::size_t volta = at(Architecture::volta), ampere = at(Architecture::ampere),
                        hopper = at(Architecture::hopper), blackwell = at(Architecture::blackwell);
  c.ll_most[volta] = gb(39, 39, 20.4);
  c.ll_most[ampere] = gb(87.7, 22.5, 19);
  c.ll_most[hopper] = gb(141, 45, 35);
  c.ll_most[blackwell] = gb(282, 90, 70);
  c.ring_ll128_channel[volta] = c.ring_ll128_channel[ampere] = gb(20);
  c.ring_ll128_channel[hopper] = gb(36.7);
  c.ring_ll128_channel[blackwell] = gb(40);
  c.tree_ll128_channel[volta] = c.tree_ll128_channel[ampere] = gb(20);
  c.tree_ll128_channel[hopper] = gb(36.7, 36.7, 29);
  c.tree_ll128_channel[blackwell] = gb(55.6, 31.67, 20);
  c.tree_channel[volta] = gb(26.5, 18.5, 10);
  c.tree_channel[ampere] = gb(24, 23.6, 17.8);
  c.tree_channel[hopper] = gb(38.7, 41.4, 36);
  c.tree_channel[blackwell] = gb(70, 42.8, 24);
  c.nvls_tree_channel[volta] = gb(26.5, 18.5, 10);
  c.nvls_tree_channel[ampere] = gb(24, 23.6, 17.8);
  c.nvls_tree_channel[hopper] = gb(0, 57.7, 45.5);
  c.nvls_tree_channel[blackwell] = gb(0, 96, 80);
  c.nvls_efficiency = {0, 0, 0.85, 0.74};
  c.plain_tree_share = 0.85;
  c.lone_as_tree = c.posts_to_network = c.plateau_by_channel = true;
  c.plateau = {1.9, 1.4, 1.4, 1.4};
  return c;
}

/// "2.27.5" as three numbers; a missing last one is 0.
std::array<int, 3> parse(std::string_view version) {
  std::array<int, 3> numbers{};
  const auto bad = [&] {
    return InputError("NCCL version", "found " + in_quotes(version) + ", expected one like 2.27.5");
  };
  const char *next = version.data(), *const end = version.data() + version.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [stop, error] = std::from_chars(next, end, numbers[i]);
    if (error != std::errc{} || numbers[i] < 0) throw bad();
    next = stop;
    if (next == end && i >= 1) return numbers;
    if (i + 1 == numbers.size() || next == end || *next != '.') break;
    ++next;
  }
  if (next != end) throw bad();
  return numbers;
}

/// What moves between releases, in microseconds.
struct Moved {
  const char* from;
  ByProtocol<double> base_tree, base_ring;
  double nvlink_tree_simple, network_tree_simple, network_ring_simple;
};

/// How a release before the newest forms what it makes of its numbers: tuning.cc of 2.5.7 to 2.23.4, the lines of
/// nInterSteps, interLat, intraLat, busBw of LL and LL128, and "Plateau effect".
void move_forms(Constants& c, const std::array<int, 3>& release) {
  const auto before = [&](int minor, int patch) { return release < std::array{2, minor, patch}; };
  const bool first = before(7, 0);
  if (before(23, 0)) {
    c.lone_as_tree = false;
    c.crossings_by_nodes = !before(12, 0);
    if (!first) c.lone_ll128_share = 0.7;
  }
  if (before(21, 0)) {
    c.ring_ll_share = 1.0 / 4;
    c.ring_ll_share_inside = first ? 1.0 / 4 : 1.0 / 3;
  }
  if (before(18, 3)) c.plain_tree_share = 1;
  if (before(18, 0)) {
    c.plugin_latency = before(12, 0) ? PluginLatency::ignored : PluginLatency::instead;
    c.posts_to_network = c.plateau_by_channel = false;
    if (!first) c.ll_inside_of_several = 1.8;
    c.plateau = before(17, 0) ? std::array{1.9, 1.9, 1.9, 1.9} : std::array{1.9, 1.9, 1.5, 1.5};
    c.hop[at(Hardware::nvlink)][at(Algo::tree)][at(Protocol::ll)] = us(0.52);
    c.hop[at(Hardware::nvlink)][at(Algo::ring)][at(Protocol::ll)] = us(0.47);
  }
  if (before(10, 0) && !first) {
    const auto channel = [&](Operation operation, double rate) {
      c.ll128_channel_of[static_cast<std::size_t>(operation)] = Bandwidth{rate * 1e9};
    };
    channel(Operation::broadcast, 18.8);
    channel(Operation::reduce, 12.0);
    channel(Operation::all_gather, 18.3);
    channel(Operation::reduce_scatter, 15.2);
    channel(Operation::all_reduce, 16.9);
  }
  if (first) c.ring_ll128_share = c.lone_ll128_share = 120.0 / 128;
}

std::vector<Constants> history() {
  constexpr ByProtocol<double> tree_old = {4.4, 4.4, 0}, ring_first = {3.6, 3.6, 8.4}, ring_old = {3.6, 10, 8.4},
                               tree_middle = {6.8, 14, 0}, tree_new = {6.8, 14, 8.4}, ring_new = {6.6, 14, 8.4};
  constexpr Moved moved[] = {
      {"2.5.7", tree_old, ring_first, 28, 50, 6.6},  {"2.7.8", tree_old, ring_old, 28, 50, 9.6},
      {"2.8.4", tree_old, ring_old, 28, 28, 9.6},    {"2.10.3", tree_old, ring_old, 28, 28, 9.6},
      {"2.12.12", tree_old, ring_old, 28, 28, 28},   {"2.14", tree_old, ring_old, 28, 28, 9.6},
      {"2.17.1", tree_old, ring_old, 28, 28, 9.6},   {"2.18.1", tree_middle, ring_new, 28, 28, 14},
      {"2.18.3", tree_middle, ring_new, 4, 14, 14},  {"2.19.1", tree_middle, ring_new, 28, 28, 14},
      {"2.21.5", tree_middle, ring_new, 28, 28, 14}, {"2.23.4", tree_new, ring_new, 4, 14, 14},
      {"2.27.3", tree_new, ring_new, 4, 14, 14},     {"2.28.9", tree_new, ring_new, 4, 14, 14},
      {"2.30.7", tree_new, ring_new, 4, 14, 14},
  };
  std::vector<Constants> all;
  for (const Moved& m : moved) {
    Constants c = newest();
    c.from = m.from;
    const std::array<int, 3> release = parse(m.from);
    c.nvls = release >= std::array{2, 17, 0};
    c.nvls_tree = release >= std::array{2, 18, 0};
    move_forms(c, release);
    c.pat = release >= std::array{2, 23, 0};
    c.ll128_over_c2c = release >= std::array{2, 27, 3};
    for (std::size_t p = 0; p < kProtocols; ++p) {
      c.base[at(Algo::tree)][p] = us(m.base_tree[p]);
      c.base[at(Algo::ring)][p] = us(m.base_ring[p]);
    }
    constexpr std::size_t simple = at(Protocol::simple);
    c.hop[at(Hardware::nvlink)][at(Algo::tree)][simple] = us(m.nvlink_tree_simple);
    c.hop[at(Hardware::pcie)][at(Algo::tree)][simple] = us(release == std::array{2, 18, 3} ? 6 : m.nvlink_tree_simple);
    c.hop[at(Hardware::network)][at(Algo::tree)][simple] = us(m.network_tree_simple);
    c.hop[at(Hardware::network)][at(Algo::ring)][simple] = us(m.network_ring_simple);
    const std::string_view from = m.from;
    if (from == "2.5.7") c.ring_ll128_total.fill(Bandwidth{113e9});
    if (release >= std::array{2, 7, 0} && release < std::array{2, 18, 0})
      c.ring_ll128_total[at(Architecture::ampere)] = Bandwidth{235e9};
    // A base there, which stands for the step inside the node here.
    if (from == "2.17.1") c.hop[at(Hardware::nvlink)][at(Algo::nvls)][simple] = us(40);
    if (from == "2.18.1" || from == "2.18.3") c.hop[at(Hardware::nvlink)][at(Algo::nvls)][simple] = us(23);
    if (from == "2.17.1" || from == "2.18.1") c.tree_channel[at(Architecture::hopper)] = gb(38.7, 41.4, 33);
    if (release < std::array{2, 10, 0}) c.tree_channel[at(Architecture::ampere)] = gb(24, 22.5, 16);
    if (from == "2.17.1" || from == "2.18.1" || from == "2.18.3" || from == "2.19.1")
      c.ll_most[at(Architecture::hopper)][0] = Bandwidth{87.7e9};
    if (!from.starts_with("2.28") && !from.starts_with("2.30")) {
      c.nvls_simple_form = true;
      c.hop[at(Hardware::network)][at(Algo::nvls_tree)][simple] = us(14);
    }
    if (from == "2.28.9") {
      c.ring_ll128_channel[at(Architecture::blackwell)] = gb(73.4, 34.6, 73.4);
      c.nvls_tree_channel[at(Architecture::blackwell)] = gb(0, 96, 43.8);
    }
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

std::string_view name(Algo algorithm) {
  constexpr std::string_view names[kAlgorithms] = {"ring",      "tree", "collnet_direct", "collnet_chain", "nvls",
                                                   "nvls_tree", "pat"};
  return names[at(algorithm)];
}

std::string_view name(Protocol protocol) {
  constexpr std::string_view names[kProtocols] = {"LL", "LL128", "Simple"};
  return names[at(protocol)];
}

bool has(const Constants& constants, Algo algorithm) {
  return algorithm == Algo::nvls        ? constants.nvls
         : algorithm == Algo::nvls_tree ? constants.nvls_tree
         : algorithm == Algo::pat       ? constants.pat
                                        : true;
}

const std::vector<Constants>& releases() {
  static const std::vector<Constants> all = history();
  return all;
}

bool has_model(std::string_view version) { return parse(releases().front().from) <= parse(version); }

bool connects_when_used(std::string_view version) { return parse(version) >= std::array{2, 22, 0}; }

const Constants& constants(std::string_view version) {
  const std::array<int, 3> wanted = parse(version);
  const std::vector<Constants>& all = releases();
  for (auto candidate = all.rbegin(); candidate != all.rend(); ++candidate) {
    if (parse(candidate->from) <= wanted) return *candidate;
  }
  throw InputError("transport.nccl_version",
                   "found " + in_quotes(version) +
                       ", expected 2.5.7 or newer: releases before it choose by thresholds and have no cost model");
}

}  // namespace stepcast::collectives::nccl
