#include "app/report/tuning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "app/report/text_table.h"

namespace stepcast::app {

namespace nccl = collectives::nccl;

namespace {

constexpr nccl::Protocol kColumns[] = {nccl::Protocol::ll, nccl::Protocol::ll128, nccl::Protocol::simple};

bool leaves(std::span<const std::string> protocols, nccl::Protocol protocol) {
  return protocols.empty() || std::ranges::find(protocols, nccl::name(protocol)) != protocols.end();
}

/// The least predicted of what is left.
nccl::Pick pick_of(const nccl::Constants& constants, const nccl::Job& job, collectives::Operation operation, Bytes size,
                   std::span<const std::string> protocols) {
  std::optional<nccl::Pick> best;
  for (const nccl::Protocol protocol : kColumns) {
    if (protocols.empty() || !leaves(protocols, protocol)) continue;
    const auto found = nccl::find_pick(constants, job, operation, size, {.protocol = protocol});
    if (found && (!best || found->predicted < best->predicted)) best = found;
  }
  return best ? *best : nccl::pick(constants, job, operation, size);
}

}  // namespace

std::string tuning_table(const nccl::Job& job, std::string_view version, collectives::Operation operation,
                         std::span<const Bytes> sizes, std::span<const std::string> protocols) {
  const nccl::Constants& constants = nccl::constants(version);
  TextTable table({{"algorithm", TextTable::Align::left},
                   {"channels"},
                   {"inside"},
                   {"between"},
                   {"LL (us)"},
                   {"(GB/s)"},
                   {"LL128 (us)"},
                   {"(GB/s)"},
                   {"Simple (us)"},
                   {"(GB/s)"}});
  for (std::size_t a = 0; a < nccl::kAlgorithms; ++a) {
    const auto algorithm = static_cast<nccl::Algo>(a);
    const std::optional<nccl::ChannelGraph>& graph = job.graphs[a];
    if (!graph || !nccl::has(constants, algorithm)) continue;
    std::vector<std::string> cells{std::string(nccl::name(algorithm)), std::to_string(graph->channels),
                                   fmt::format("{:.1f}", graph->intra.value / 1e9),
                                   job.nodes > 1 ? fmt::format("{:.1f}", graph->inter.value / 1e9) : "-"};
    for (const nccl::Protocol protocol : kColumns) {
      const auto cost =
          leaves(protocols, protocol) ? nccl::price(constants, job, operation, algorithm, protocol) : std::nullopt;
      cells.push_back(cost ? fmt::format("{:.1f}", to_seconds(cost->latency) * 1e6) : "-");
      cells.push_back(cost ? fmt::format("{:.1f}", cost->rate.value / 1e9) : "-");
    }
    table.add(std::move(cells));
  }
  std::string text = fmt::format("NCCL {}: its own model of {} over {} GPUs on {} {}; constants as of {}\n\n", version,
                                 collectives::name(operation), job.ranks, job.nodes, job.nodes == 1 ? "node" : "nodes",
                                 constants.from) +
                     table.text() + '\n';
  std::string last;
  for (const Bytes size : sizes) {
    const nccl::Pick pick = pick_of(constants, job, operation, size, protocols);
    const std::string name = fmt::format("{}/{}", nccl::name(pick.algorithm), nccl::name(pick.protocol));
    if (name != last) {
      text += fmt::format("from {:>11} B: {:<16} predicted by it: {:.1f} us\n", size.value, name,
                          to_seconds(pick.predicted) * 1e6);
    }
    last = name;
  }
  return text;
}

}  // namespace stepcast::app
