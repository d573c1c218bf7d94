#include <numeric>

#include "collectives/algorithm.h"
#include "collectives/algorithms/offsets.h"
#include "collectives/algorithms/servers.h"

namespace stepcast::collectives {
namespace {

/// Every rank serves one share: all send it theirs at once, and then get the sum. 2 (P - 1) / P n out of and into each
/// rank, P - 1 messages at a time into one port.
CollectivePlan plan_co_located(const Request& request) {
  const Offsets offsets(request);
  const std::uint32_t lanes = offsets.lanes(), n = request.ranks;
  CollectivePlan plan;
  plan.ranks = n;
  plan.reserve(std::size_t{2} * lanes * (n - 1), std::size_t{lanes} * (n - 1) * (n - 1));
  for (std::uint32_t rank = 0; rank < n; ++rank) plan.add_chunk(part(request.all(), n, rank));
  std::vector<TransferId> pushed(std::size_t{lanes} * n);  // by lane and offset
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t source = offsets.source(lane);
    for (std::uint32_t offset = 1; offset < n; ++offset) {
      const std::uint32_t server = offsets.after(source, offset);
      pushed[lane * n + offset] = plan.add({plan.connect(source, server, 0), ChunkId{server}, Effect::reduce});
    }
  }
  std::vector<TransferId> arrived(n - 1);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t server = offsets.source(lane);
    for (std::uint32_t offset = 1; offset < n; ++offset) {
      arrived[offset - 1] = pushed[offsets.lane(offsets.before(server, offset)) * n + offset];
    }
    for (std::uint32_t offset = 1; offset < n; ++offset) {
      // The connection of the push the same way.
      const ConnectionId way = plan.transfers[index(pushed[lane * n + offset])].connection;
      plan.add({way, ChunkId{server}, Effect::copy}, arrived);
    }
  }
  return plan;
}

CollectivePlan plan_sharded(const Request& request) {
  if (request.servers == 0) return plan_co_located(request);
  std::vector<std::uint32_t> servers(request.servers);
  std::iota(servers.begin(), servers.end(), request.ranks - request.servers);
  return plan_servers(request, servers);
}

}  // namespace

extern const Algorithm sharded_parameter_server;
constinit const Algorithm sharded_parameter_server{
    .name = "sharded-parameter-server",
    .summary = "servers with a share of the elements each: every rank is one, or so many separate ones",
    .source = "Li et al., OSDI 2014; Jiang et al., BytePS, OSDI 2020, section 2.2 (co-located and separate servers)",
    .has_servers = true,
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.ranks >= 2 + request.servers;
        },
    .plan = plan_sharded,
    .symmetry = [](const Request& request) { return request.servers == 0 ? Offsets::symmetry(request) : Symmetry{}; }};

}  // namespace stepcast::collectives
