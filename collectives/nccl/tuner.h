#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/constants.h"
#include "collectives/operation.h"
#include "sim/units.h"

namespace stepcast::collectives::nccl {

enum class Cpu : std::uint8_t { intel, amd, mixed, other };

/// What NCCL's topology search found for one algorithm: the line "GRAPH" of its log.
struct ChannelGraph {
  std::uint32_t channels = 0;
  Bandwidth intra{}, inter{};  ///< of one channel, inside a node and between nodes
  bool plain_tree = false;     ///< pattern TREE (3 in the log), neither balanced nor split
  bool same_channels = true;
  Hardware inside = Hardware::nvlink;  ///< pcie where the worst path inside a node is not direct NVLink
  Time network_latency{};
};

/// Whether NCCL trusts LL128 on a communicator's ways: NVLink inside nodes, adapters near their GPUs, Volta or newer.
/// over_c2c: releases do that know of GPUs that reach their adapters through the CPU on their module.
enum class Ll128Trust : std::uint8_t { none, over_c2c, all_releases };

/// The communicator, and the graphs found for it.
struct Job {
  std::uint32_t ranks = 1, nodes = 1;  ///< nodes divides ranks
  Architecture architecture = Architecture::ampere;
  Cpu cpu = Cpu::intel;
  Ll128Trust ll128 = Ll128Trust::all_releases;
  bool collnet = false;  ///< a plugin reduces in the switches (SHARP)
  std::array<std::optional<ChannelGraph>, kAlgorithms> graphs{};

  std::uint32_t gpus() const { return ranks / nodes; }
};

/// Whether a release takes LL128 there without being told to.
bool trusts_ll128(const Constants& constants, const Job& job);

/// NCCL_ALGO, NCCL_PROTO and NCCL_MAX_NCHANNELS as data; nothing: NCCL's own choice.
struct Overrides {
  std::optional<Algo> algorithm{};
  std::optional<Protocol> protocol{};
  std::optional<std::uint32_t> most_channels{};
};

/// What NCCL believes an algorithm and protocol to cost: a line, before its corrections for size.
struct Price {
  Time latency{};
  Bandwidth rate{};  ///< of the operation's size as nccl-tests counts it (algbw)
};

/// One cell of NCCL's "TUNING" table; nothing where NCCL does not use the combination. `constants` picks the release.
/// Operations: all_reduce, all_gather, reduce_scatter, broadcast, reduce.
/// Source: NCCL 2.30.7 src/graph/tuning.cc, lines 256 to 440, restated; older releases through their constants.
std::optional<Price> price(const Constants& constants, const Job& job, Operation operation, Algo algorithm,
                           Protocol protocol, const Overrides& overrides = {});

/// What NCCL predicts for `bytes`: the price's line, corrected for trees of middling sizes, and for rings over several
/// nodes past their latency plateau. Source: tuning.cc, lines 630 to 655. It chooses well and predicts badly.
Time predict(const Constants& constants, const Price& price, const Job& job, Operation operation, Algo algorithm,
             Protocol protocol, Bytes bytes);

/// The operations that NCCL's tuner knows; the others have one way each.
bool tunes(Operation operation);

/// The name in collectives/algorithms.h of the plan that does what NCCL's algorithm does. Not for CollNetChain. NVLS
/// over several nodes is NVLink SHARP inside them and SHARP between them.
std::string_view plan_name(Algo algorithm, std::uint32_t nodes);

struct Pick {
  Algo algorithm = Algo::ring;
  Protocol protocol = Protocol::simple;
  Time predicted{};
};

/// The least predicted; the first of equals in the order of the enumerations. None where the overrides
/// leave nothing.
std::optional<Pick> find_pick(const Constants& constants, const Job& job, Operation operation, Bytes bytes,
                              const Overrides& overrides = {});

/// The same; throws InputError where there is none.
Pick pick(const Constants& constants, const Job& job, Operation operation, Bytes bytes,
          const Overrides& overrides = {});

}  // namespace stepcast::collectives::nccl
