#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topology/ids.h"

namespace stepcast::collectives {

class Searches;

/// What an algorithm may know of the links between its ranks: plain data. Links are numbered as they are met.
struct LinkView {
  struct Hop {
    std::uint32_t link = 0;
    double load = 1;  ///< share of the bytes that crosses it
    auto operator<=>(const Hop&) const = default;
  };
  std::uint32_t ranks = 0;           ///< 0: nothing is known
  std::vector<double> capacity;      ///< by link: bytes per second
  std::vector<topology::LinkId> id;  ///< by link: which of the cluster's it is
  std::vector<Hop> hops;             ///< of all ways, one after the other
  std::vector<std::uint32_t> begin;  ///< by way (from * ranks + to): its first hop; one past the last way's at the end
  std::vector<bool> over_nvlink;     ///< by way: over NVLinks alone, direct or through a switch
  std::vector<std::uint32_t> nvlinks;  ///< by way: NVLinks from GPU to GPU, counted in the narrowest of them
  /// Of one node among several, by rank: what traffic to and from other nodes crosses in it. Empty: no other nodes.
  std::vector<std::vector<Hop>> departs, arrives;
  double nvlink_rate = 0;  ///< of one such, bytes per second
  double host_rate = 0;    ///< of the slowest way of the ring 0, 1, ... over PCIe and sockets, if there is one
  std::shared_ptr<Searches> searches{};  ///< what they found (search/searches.h); of whole communicators

  bool empty() const { return ranks == 0; }
  std::span<const Hop> way(std::uint32_t from, std::uint32_t to) const {
    const std::size_t at = std::size_t{from} * ranks + to;
    return {hops.data() + begin[at], hops.data() + begin[at + 1]};
  }
  bool nvlink(std::uint32_t from, std::uint32_t to) const { return over_nvlink[std::size_t{from} * ranks + to]; }
  std::uint32_t direct(std::uint32_t from, std::uint32_t to) const { return nvlinks[std::size_t{from} * ranks + to]; }
};

}  // namespace stepcast::collectives
