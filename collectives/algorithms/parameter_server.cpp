#include "collectives/algorithm.h"
#include "collectives/algorithms/servers.h"

namespace stepcast::collectives {
namespace {

/// One server: rank 0, which works too, or the last rank, which only serves.
CollectivePlan plan_parameter_server(const Request& request) {
  const std::uint32_t server = request.servers == 0 ? 0 : request.ranks - 1;
  return plan_servers(request, std::span(&server, 1));
}

}  // namespace

extern const Algorithm parameter_server;
constinit const Algorithm parameter_server{
    .name = "parameter-server",
    .summary = "all send to one rank, which adds and sends the sum back",
    .source = "Li et al., Scaling distributed machine learning with the parameter server, OSDI 2014",
    .has_servers = true,
    .needs = "two workers and at most one server; sharded-parameter-server takes more",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.servers <= 1 &&
                 request.ranks >= 2 + request.servers;
        },
    .plan = plan_parameter_server,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
