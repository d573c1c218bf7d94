#include "collectives/timing/nccl_pick.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/timing/candidates.h"

namespace stepcast::collectives {
namespace {

nccl::Protocol to_nccl(Proto proto) {
  return proto == Proto::ll      ? nccl::Protocol::ll
         : proto == Proto::ll128 ? nccl::Protocol::ll128
                                 : nccl::Protocol::simple;
}
Proto from_nccl(nccl::Protocol protocol) {
  return protocol == nccl::Protocol::ll ? Proto::ll : protocol == nccl::Protocol::ll128 ? Proto::ll128 : Proto::simple;
}

}  // namespace

bool nccl_tunes(const topology::Cluster& cluster, const Transport& transport, Operation operation,
                std::uint32_t nodes) {
  const bool measured = nodes > 1 && cluster.nic_port().nccl.plugin.own_tuner;
  return !measured && nccl::tunes(operation) && nccl::has_model(transport.nccl_version);
}

Wanted picked_by_nccl(const Transport& transport, nccl::Job job, Request request, Bytes bytes,
                      std::optional<Proto> protocol, bool or_fastest, const std::function<const LinkView&()>& view) {
  const Forced& forced = transport.forced;
  nccl::Overrides overrides;
  if (forced.most_channels < transport.channels) overrides.most_channels = forced.most_channels;
  // Of what is forced none may do the operation: then it is the library's choice.
  const bool choice = std::ranges::any_of(forced.algorithms,
                                          [&](const std::string& name) { return algorithm(name).supports(request); });
  for (std::size_t i = 0; i < job.graphs.size(); ++i) {
    if (!job.graphs[i]) continue;
    const auto is_in = [&](const std::vector<std::string>& names) {
      const auto named = [&](std::uint32_t nodes) {
        return std::ranges::find(names, nccl::plan_name(static_cast<nccl::Algo>(i), nodes)) != names.end();
      };
      return named(1) || named(request.nodes);
    };
    if ((choice && !is_in(forced.algorithms)) || is_in(forced.without)) job.graphs[i].reset();
  }
  std::vector<std::optional<nccl::Protocol>> protocols;
  if (protocol) {
    protocols = {to_nccl(*protocol)};
  } else if (forced.protocols.empty()) {
    protocols = {std::nullopt};
  } else {
    for (const Proto each : kProtocols) {
      if (may_use(transport, each)) protocols.push_back(to_nccl(each));
    }
  }
  while (true) {
    std::optional<nccl::Pick> pick;
    const nccl::Constants& constants = nccl::constants(transport.nccl_version);
    for (const std::optional<nccl::Protocol>& each : protocols) {
      overrides.protocol = each;
      const std::optional<nccl::Pick> other = nccl::find_pick(constants, job, request.operation, bytes, overrides);
      if (other && (!pick || other->predicted < pick->predicted)) pick = other;
    }
    if (!pick && or_fastest) return {"auto", protocol};
    if (!pick) pick = nccl::pick(constants, job, request.operation, bytes, overrides);  // says what is missing
    const Algorithm& planned = algorithm(nccl::plan_name(pick->algorithm, request.nodes));
    if (planned.needs_links && request.ranks <= kMostViewed) {
      request.links = view();
    }
    const Proto picked = from_nccl(pick->protocol);
    if (planned.supports(request)) {
      return {planned.name, constants_of(transport, picked).share > 0 ? picked : Proto::simple};
    }
    job.graphs[static_cast<std::size_t>(pick->algorithm)].reset();
  }
}

}  // namespace stepcast::collectives
