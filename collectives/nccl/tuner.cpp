#include "collectives/nccl/tuner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "sim/input_error.h"

namespace stepcast::collectives::nccl {
namespace {

constexpr double kTreeBus = 0.92;           // trees at any protocol
constexpr double kLlTree = 1 / 3.8;         // of what the tree reaches at Simple
constexpr double kLl128Line = 120.0 / 128;  // data of a 128-byte line
constexpr double kLl128TreeInside = 7.0 / 9;

/// Share of the rate that trees reach, by log2(bytes / 64).
constexpr std::array<std::array<double, 23>, kProtocols> kTreeBySize = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

/// `forced`: somebody said this protocol, so that NCCL does not ask whether LL128 is safe there (tuning.cc: it does
/// where NCCL_PROTO says nothing).
bool uses(const Constants& constants, const Job& job, Operation operation, Algo algorithm, Protocol protocol,
          bool forced) {
  if (protocol == Protocol::ll128 && !trusts_ll128(constants, job) && !forced) return false;
  const bool reduces_all = operation == Operation::all_reduce;
  switch (algorithm) {
    case Algo::ring:
      return reduces_all || by_parts(operation) || operation == Operation::broadcast || operation == Operation::reduce;
    case Algo::tree:
      return reduces_all;
    case Algo::collnet_direct:
      return protocol == Protocol::simple && job.collnet && (reduces_all || by_parts(operation));
    case Algo::collnet_chain:
      return protocol == Protocol::simple && job.collnet && reduces_all;
    case Algo::nvls:
      return protocol == Protocol::simple && job.architecture >= Architecture::hopper &&
             (job.nodes == 1 || job.collnet) && (reduces_all || by_parts(operation));
    case Algo::nvls_tree:
      return protocol == Protocol::simple && job.architecture >= Architecture::hopper && job.nodes > 1 &&
             !job.collnet && reduces_all;
    case Algo::pat:
      return protocol == Protocol::simple && job.gpus() == 1 && job.nodes > 1 && by_parts(operation);
  }
  return false;
}

std::size_t spread(std::uint32_t nodes) { return std::min<std::size_t>(nodes, 3) - 1; }

Bandwidth least(Bandwidth a, Bandwidth b) { return std::min(a, b); }

/// Inside one node the GPU decides; between nodes the CPU does, in the rows of Volta and Ampere.
Bandwidth ll_most(const Constants& c, const Job& job) {
  if (job.nodes == 1) return c.ll_most[at(job.architecture)][0];
  const bool amd = job.cpu == Cpu::amd || job.cpu == Cpu::mixed;
  return c.ll_most[at(amd ? Architecture::ampere : Architecture::volta)][spread(job.nodes)];
}

/// All channels together, as busbw of the algorithm.
Bandwidth bus_rate(const Constants& c, const Job& job, Operation operation, Algo algorithm, Protocol protocol,
                   const ChannelGraph& graph) {
  const double channels = graph.channels;
  const std::size_t arch = at(job.architecture), nodes = spread(job.nodes);
  const bool collnet = algorithm == Algo::collnet_direct || algorithm == Algo::collnet_chain;
  const Bandwidth bus = (job.nodes <= 2 || collnet ? graph.intra : graph.inter) * channels;
  const Bandwidth of_operation = c.ll128_channel_of[static_cast<std::size_t>(operation)];
  const auto most = [&](const std::array<BySpread<Bandwidth>, kArchitectures>& ll128_channel) {
    return of_operation.value > 0 ? of_operation : ll128_channel[arch][nodes];
  };
  switch (algorithm) {
    case Algo::ring:
      if (protocol == Protocol::ll) {
        const bool several = job.nodes > 1 || operation == Operation::all_reduce || operation == Operation::reduce;
        return least(ll_most(c, job), bus * (several ? c.ring_ll_share : c.ring_ll_share_inside));
      }
      if (protocol == Protocol::ll128) {
        const double share = job.gpus() == 1 ? c.lone_ll128_share : c.ring_ll128_share;
        const Bandwidth capped = least(bus * share, most(c.ring_ll128_channel) * channels);
        return c.ring_ll128_total[arch].value > 0 ? least(capped, c.ring_ll128_total[arch]) : capped;
      }
      return bus;
    case Algo::tree: {
      Bandwidth rate = least(bus * kTreeBus, c.tree_channel[arch][nodes] * channels);
      if (protocol == Protocol::ll) rate = least(rate * kLlTree, ll_most(c, job));
      if (protocol == Protocol::ll128) {
        rate = least(rate * (job.nodes == 1 ? kLl128TreeInside : kLl128Line), most(c.tree_ll128_channel) * channels);
      }
      return rate * (graph.plain_tree ? c.plain_tree_share : 1.0);
    }
    case Algo::collnet_chain:
      return bus;
    case Algo::collnet_direct: {
      const double gpus = job.gpus();
      Bandwidth rate = bus;
      if (by_parts(operation)) {
        rate = least(graph.intra, graph.inter * 0.9) * gpus;
      } else {
        const double fan = gpus / channels;
        rate = bus * (1 / (fan - (fan - 1) / 2));
      }
      return rate * (job.architecture >= Architecture::hopper ? 0.85 : 1.0);
    }
    case Algo::nvls:
    case Algo::nvls_tree: {
      const bool tree = algorithm == Algo::nvls_tree;
      if (c.nvls_simple_form) {
        const Bandwidth inter = graph.inter * (job.nodes <= 2 ? 1.0 : 0.5);
        return (job.nodes == 1 ? graph.intra : least(graph.intra, inter)) * channels;
      }
      const Bandwidth inter = graph.inter * (tree && job.nodes <= 2 ? 2.0 : 1.0);
      const double gpus = job.gpus();
      Bandwidth rate = graph.intra * (c.nvls_efficiency[arch] * (channels - 1) / channels *
                                      (operation == Operation::all_reduce ? 2.0 : (gpus - 1) / gpus));
      if (job.nodes > 1) rate = least(rate, inter);
      if (tree) rate = least(rate, c.nvls_tree_channel[arch][nodes]);
      return rate * channels;
    }
    case Algo::pat:
      return bus * 0.75;
  }
  return bus;
}

/// Steps of a ring; for the others what the bus rate is divided by does not depend on them.
std::uint32_t steps_of(const Job& job, Operation operation) {
  if (operation == Operation::all_reduce) return 2 * (job.ranks - 1);
  return by_parts(operation) ? job.ranks - 1 : job.ranks;
}

double size_per_bus_byte(const Constants& c, const Job& job, Operation operation, Algo algorithm) {
  const double per_step = static_cast<double>(job.ranks) / steps_of(job, operation);
  switch (algorithm) {
    case Algo::ring:
      return per_step;
    case Algo::nvls:
    case Algo::nvls_tree:
      if (by_parts(operation)) return 1;
      return c.nvls_simple_form ? 5.0 / 6 : per_step;
    case Algo::tree:
    case Algo::collnet_direct:
    case Algo::collnet_chain:
    case Algo::pat:
      return by_parts(operation) ? 1 : 0.5;
  }
  return 1;
}

/// A step from one node to the next.
Time between(const Constants& c, const Job& job, Algo algorithm, Protocol protocol, const ChannelGraph& graph) {
  const Algo row = c.lone_as_tree && job.gpus() == 1 && algorithm == Algo::ring ? Algo::tree : algorithm;
  const Time step = c.hop[at(Hardware::network)][at(row)][at(protocol)], told = graph.network_latency;
  switch (c.plugin_latency) {
    case PluginLatency::ignored:
      return step;
    case PluginLatency::instead:
      return told.value > 0 ? told : step;
    case PluginLatency::beside:
      return step + told * (protocol == Protocol::simple ? 2 : 1);
  }
  return step;
}

Time latency(const Constants& c, const Job& job, Operation operation, Algo algorithm, Protocol protocol,
             const ChannelGraph& graph) {
  const std::size_t p = at(protocol);
  const auto hop = [&](Hardware link, Algo of) { return c.hop[at(link)][at(of)][p]; };
  const bool simple = protocol == Protocol::simple, several = job.nodes > 1;
  const Time base = c.base[at(algorithm)][p];
  Time intra = hop(graph.inside, algorithm);
  if (several && protocol == Protocol::ll) intra = from_seconds(to_seconds(intra) * c.ll_inside_of_several);
  const Time inter = between(c, job, algorithm, protocol, graph);
  const std::int64_t gpus = job.gpus(), nodes = job.nodes, doublings = std::bit_width(job.nodes) - 1;
  switch (algorithm) {
    case Algo::ring: {
      const std::int64_t steps = steps_of(job, operation);
      if (operation == Operation::all_reduce || by_parts(operation)) {
        const std::int64_t turns = c.crossings_by_nodes ? 2 * nodes : 2 * (nodes - 1);
        const std::int64_t crossings = !several ? 0 : operation == Operation::all_reduce ? turns : nodes - 1;
        const Time post = microseconds(!several || !c.posts_to_network ? 0 : job.cpu == Cpu::amd ? 2 : 1);
        return base + std::max(intra, post * (simple ? 3 : 1)) * (steps - crossings) + inter * crossings;
      }
      const Hardware way = several ? Hardware::network : graph.inside;
      if (graph.same_channels) return base + hop(way, algorithm);
      return base + hop(way, simple ? Algo::tree : algorithm) * steps;
    }
    case Algo::tree:
      return base + ((gpus - 1) * intra + doublings * inter) * 2;
    case Algo::collnet_direct:
      return base + (std::min<std::int64_t>(1, gpus - 1) * intra + nanoseconds(400) * (gpus - 1)) * 2 + inter;
    case Algo::collnet_chain:
      return base + (gpus - 1) * intra * 2 + inter;
    case Algo::nvls:
      return nodes > 1 ? intra + inter : intra;
    case Algo::nvls_tree:
      return intra + doublings * inter * 2;
    case Algo::pat:
      return base + from_seconds(to_seconds(inter) * static_cast<double>(doublings) / 3.5) +
             nanoseconds(2800) * std::int64_t{job.ranks};
  }
  return base;
}

}  // namespace

bool trusts_ll128(const Constants& constants, const Job& job) {
  return job.ll128 == Ll128Trust::all_releases || (job.ll128 == Ll128Trust::over_c2c && constants.ll128_over_c2c);
}

std::optional<Price> price(const Constants& constants, const Job& job, Operation operation, Algo algorithm,
                           Protocol protocol, const Overrides& overrides) {
  const std::optional<ChannelGraph>& found = job.graphs[at(algorithm)];
  if (!found || found->channels == 0 || job.ranks < 2) return {};
  if (!uses(constants, job, operation, algorithm, protocol, overrides.protocol == protocol)) return {};
  if (!has(constants, algorithm)) return {};
  if (algorithm == Algo::nvls && job.nodes > 1 && !has(constants, Algo::nvls_tree)) return {};
  ChannelGraph graph = *found;
  if (overrides.most_channels) graph.channels = std::clamp(*overrides.most_channels, 1u, graph.channels);
  if ((algorithm == Algo::nvls || algorithm == Algo::nvls_tree) && graph.channels < 2) return {};
  const Bandwidth rate = bus_rate(constants, job, operation, algorithm, protocol, graph) *
                         size_per_bus_byte(constants, job, operation, algorithm);
  if (!(rate.value > 0)) return {};
  return Price{latency(constants, job, operation, algorithm, protocol, graph), rate};
}

Time predict(const Constants& constants, const Price& price, const Job& job, Operation operation, Algo algorithm,
             Protocol protocol, Bytes bytes) {
  Bandwidth rate = price.rate;
  Time latency = price.latency;
  if (algorithm == Algo::tree && operation == Operation::all_reduce) {
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes.value / 64, 0));
    const std::size_t size = units == 0 ? kTreeBySize[0].size() : static_cast<std::size_t>(std::bit_width(units) - 1);
    if (size < kTreeBySize[0].size()) rate = rate * kTreeBySize[at(protocol)][size];
  }
  if (algorithm == Algo::ring && protocol == Protocol::simple && operation == Operation::all_reduce && job.nodes > 1) {
    const std::int64_t ranks = job.ranks, channels = job.graphs[at(algorithm)]->channels;
    const bool past =
        constants.plateau_by_channel ? bytes.value / (channels * ranks) >= 64 : bytes.value / ranks >= 4096;
    if (past) latency = from_seconds(to_seconds(latency) * constants.plateau[at(job.architecture)]);
  }
  return latency + bytes / rate;
}

bool tunes(Operation operation) {
  return operation == Operation::all_reduce || by_parts(operation) || operation == Operation::broadcast ||
         operation == Operation::reduce;
}

std::string_view plan_name(Algo algorithm, std::uint32_t nodes) {
  switch (algorithm) {
    case Algo::ring:
      return "ring";
    case Algo::tree:
      return "double-binary-tree";
    case Algo::nvls:
      return nodes > 1 ? "sharp" : "nvls";
    case Algo::nvls_tree:
      return "nvls-tree";
    case Algo::collnet_direct:
      return "sharp";
    case Algo::pat:
      return "pat";
    case Algo::collnet_chain:
      break;
  }
  throw std::logic_error("no plan does what this algorithm of NCCL's does");
}

std::optional<Pick> find_pick(const Constants& constants, const Job& job, Operation operation, Bytes bytes,
                              const Overrides& overrides) {
  std::optional<Pick> best;
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    for (std::size_t p = 0; p < kProtocols; ++p) {
      const auto algorithm = static_cast<Algo>(a);
      const auto protocol = static_cast<Protocol>(p);
      if (overrides.algorithm.value_or(algorithm) != algorithm) continue;
      if (overrides.protocol.value_or(protocol) != protocol) continue;
      const auto cost = price(constants, job, operation, algorithm, protocol, overrides);
      if (!cost) continue;
      const Time predicted = predict(constants, *cost, job, operation, algorithm, protocol, bytes);
      if (!best || predicted < best->predicted) best = Pick{algorithm, protocol, predicted};
    }
  }
  return best;
}

Pick pick(const Constants& constants, const Job& job, Operation operation, Bytes bytes, const Overrides& overrides) {
  const std::optional<Pick> best = find_pick(constants, job, operation, bytes, overrides);
  if (!best) {
    throw InputError("NCCL overrides", "no algorithm and protocol is left for " +
                                           std::string(collectives::name(operation)) + " over " +
                                           std::to_string(job.ranks) + " ranks");
  }
  return *best;
}

}  // namespace stepcast::collectives::nccl
