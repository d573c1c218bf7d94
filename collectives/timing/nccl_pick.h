#pragma once

#include <functional>
#include <optional>

#include "collectives/algorithms.h"
#include "collectives/nccl/search.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/protocols.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Whether NCCL picks an operation's algorithm by its own model, and we have that of the stack's release: not where a
/// plugin of the network brings a tuner. `nodes`: that its ranks are on.
bool nccl_tunes(const topology::Cluster& cluster, const Transport& transport, Operation operation, std::uint32_t nodes);

/// What the release of the stack would pick of what there are plans for; its protocol where the stack describes it,
/// else Simple. `job`: the communicator as NCCL sees it. `view`: of the request's links. `or_fastest`: "auto" where
/// NCCL's search finds nothing, as on machines that it is not made for; else that throws InputError. Requires
/// nccl_tunes().
Wanted picked_by_nccl(const Transport& transport, nccl::Job job, Request request, Bytes bytes,
                      std::optional<Proto> protocol, bool or_fastest, const std::function<const LinkView&()>& view);

}  // namespace stepcast::collectives
