#include "app/hashings.h"

#include <fmt/format.h>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/fabrics.h"

namespace stepcast::app {
namespace {

void check_hashes(const schedules::ClusterSpec& cluster, std::uint32_t seeds) {
  if (!cluster.allocation && cluster.gpus <= cluster.node.gpus)
    throw InputError("--seeds", fmt::format("found {} on one node, expected several, joined by a fabric whose "
                                            "cluster.fabric.routing is hash",
                                            seeds));
  if (!hashes(cluster.fabric))
    throw InputError("--seeds",
                     fmt::format("found {} on the fabric {} of kind {} with routing {}, which hashes nothing: "
                                 "every seed gives the same; expected one with cluster.fabric.routing: hash",
                                 seeds, in_quotes(cluster.fabric.name), cluster.fabric.kind, cluster.fabric.routing));
}

}  // namespace

std::vector<schedules::ClusterSpec> hashings(const schedules::ClusterSpec& cluster, std::uint32_t seeds) {
  if (seeds == 0) return {cluster};
  check_hashes(cluster, seeds);
  std::vector<schedules::ClusterSpec> all(seeds, cluster);
  for (std::uint32_t i = 0; i < seeds; ++i) all[i].fabric.seed += i;
  return all;
}

}  // namespace stepcast::app
