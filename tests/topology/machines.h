#pragma once

// The machines and fabrics the tests build: round numbers, so that sums are checked by eye.

#include <functional>
#include <string>
#include <vector>

#include "sim/input_error.h"
#include "topology/cluster.h"

namespace stepcast::topology {

inline LinkType link_type(std::string name, LinkKind kind, double gb_per_s, std::int64_t ns) {
  return {std::move(name), kind, Bandwidth{gb_per_s * 1e9}, 1.0, nanoseconds(ns), "made up for tests"};
}
inline LinkType test_nvlink() { return link_type("nvlink", LinkKind::nvlink, 20, 300); }
inline LinkType test_pcie() { return link_type("pcie", LinkKind::pcie, 24, 150); }
inline LinkType test_socket() { return link_type("socket", LinkKind::socket, 16, 100); }
inline LinkType test_nic() { return link_type("nic", LinkKind::network, 23, 400); }

/// 8 GPUs of 12 NVLinks, 4 PCIe switches, 2 sockets, 8 NICs.
inline NodeSpec dgx() {
  NodeSpec node;
  node.name = "dgx";
  node.builder = "nvswitch";
  node.gpus = 8;
  node.nics = 8;
  node.nvlinks_per_gpu = 12;
  node.nvlink = test_nvlink();
  node.pcie = test_pcie();
  node.socket_link = test_socket();
  node.nic = test_nic();
  return node;
}

/// 4 GPUs, two on each switch, a switch on each socket, `nics` NICs.
inline NodeSpec pcie_box(bool p2p = true, std::uint32_t nics = 0) {
  NodeSpec node = dgx();
  node.name = "box";
  node.builder = "pcie";
  node.gpus = 4;
  node.nics = nics;
  node.nvlinks_per_gpu = 0;
  node.nvlink.reset();
  node.pcie_p2p = p2p;
  return node;
}

/// Three GPUs in a row of NVLinks (the second of two) that pass on what is not for them, and a NIC on their socket.
inline NodeSpec hand_written() {
  NodeSpec node;
  node.name = "own";
  node.builder = "graph";
  node.gpus = 3;
  node.nvlink_forwarding = true;
  node.devices = {{"left", "gpu"}, {"host", "cpu"}, {"middle", "gpu"}, {"right", "gpu"}, {"port", "nic"}};
  node.links = {{"left", "middle", test_nvlink(), 1}, {"middle", "right", test_nvlink(), 2},
                {"left", "host", test_pcie(), 1},     {"middle", "host", test_pcie(), 1},
                {"right", "host", test_pcie(), 1},    {"port", "host", test_pcie(), 1}};
  node.nic = test_nic();
  return node;
}

inline FabricSpec rail_fabric(std::uint32_t radix = 40, const char* routing = "adaptive", double oversubscription = 1) {
  return {.name = "rails",
          .kind = "rail-fat-tree",
          .radix = radix,
          .levels = 0,
          .groups = 0,
          .torus = {},
          .oversubscription = oversubscription,
          .routing = routing,
          .in_network_reduction = false,
          .switch_latency = nanoseconds(130),
          .cable_latency = nanoseconds(50),
          .source = "made up for tests"};
}

inline FabricSpec big_switch() {
  FabricSpec fabric = rail_fabric();
  fabric.name = "big switch";
  fabric.kind = "one-switch";
  return fabric;
}

/// The names along a path, sender first; "BROKEN" where a link does not begin where the one before ended.
inline std::vector<std::string> stations(const Cluster& cluster, const Path& path) {
  std::vector<std::string> names;
  for (const LinkId id : path.links) {
    const Link link = cluster.link(id);
    if (names.empty()) names.push_back(link.from);
    if (names.back() != link.from) names.push_back("BROKEN");
    names.push_back(link.to);
  }
  return names;
}

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace stepcast::topology
