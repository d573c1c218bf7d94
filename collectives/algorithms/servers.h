#pragma once

#include <span>

#include "collectives/request.h"

namespace stepcast::collectives {

/// Parameter servers: every worker sends each server that server's share of the elements, which adds it to its own and
/// sends the sum back. Shares are of one size; `pieces` of a share follow each other, so that sums go back while later
/// pieces still come. Workers are all ranks but the last `request.servers`; a server may be a worker too.
CollectivePlan plan_servers(const Request& request, std::span<const std::uint32_t> servers);

}  // namespace stepcast::collectives
