#include "schedules/data_parallel/groups.h"

namespace stepcast::schedules {

DataGroups::DataGroups(const Ranks& ranks, const Scenario& s, Coordinate c, std::optional<std::uint32_t> copy) {
  const std::uint32_t size = shard_ranks(s);
  if (size == s.parallelism.data) {
    shards = ranks.data_groups_beside(c, copy);
    return;
  }
  shards = ranks.shard_groups(c, size);
  replicas = ranks.replica_groups(c, size);
  own_shards = s.parallelism.data / size;
  own_replicas = size;
}

std::string_view algorithm(DataParallelMode mode) {
  switch (mode) {
    case DataParallelMode::all_reduce:
      return "auto";
    case DataParallelMode::parameter_server:
      return "parameter-server";
    case DataParallelMode::sharded_parameter_server:
      return "sharded-parameter-server";
  }
  return {};
}

}  // namespace stepcast::schedules
