#include "schedules/data_parallel/groups.h"

#include "models/layers/frozen.h"
#include "schedules/parallel/inner_groups.h"

namespace stepcast::schedules {

DataGroups::DataGroups(const Ranks& ranks, const Scenario& s, Coordinate c, std::optional<std::uint32_t> copy) {
  if (expert_ranks(s.parallelism) > 1) {
    experts = expert_copies_of_stage(ranks, c, copy);
    own_experts = expert_ranks(s.parallelism) / s.parallelism.tensor;
  }
  const std::uint32_t size = shard_ranks(s);
  if (size == weight_copies(s.parallelism)) {
    shards = ranks.data_groups_beside(c, copy);
    return;
  }
  shards = ranks.shard_groups(c, size);
  replicas = ranks.replica_groups(c, size);
  own_shards = weight_copies(s.parallelism) / size;
  own_replicas = size;
}

Held held_of(const Block& block) { return {block.parameters, block.expert_parameters}; }

Held trained_held(const Block& block) { return {trained_parameters(block), trained_expert_parameters(block)}; }

Held all_held(const Blocks& blocks, std::span<const BlockRange> chunks) {
  return {parameters(blocks, chunks), expert_parameters(blocks, chunks)};
}

Held trained_held(const Blocks& blocks, std::span<const BlockRange> chunks) {
  Held n{trained_parameters(blocks, chunks), 0};
  for (const std::uint32_t place : places(chunks)) n.experts += trained_expert_parameters(blocks.at(place));
  return n;
}

Held stored_held(const Scenario& s, const Block& block) {
  return {stored_parameters(s.training, block), stored_expert_parameters(s.training, block)};
}

Held stored_held(const Scenario& s, const Blocks& blocks, std::span<const BlockRange> chunks) {
  Held n = all_held(blocks, chunks);
  if (!keeps_four_bits(s.training)) return n;
  for (const std::uint32_t place : places(chunks)) {
    const Held all = held_of(blocks.at(place)), stored = stored_held(s, blocks.at(place));
    n = {n.all - (all.all - stored.all), n.experts - (all.experts - stored.experts)};
  }
  return n;
}

double sharded(const Scenario& s, Held held, std::uint32_t copies) {
  return held.rest() / (shard_ranks(s) * copies) +
         (held.experts > 0 ? held.experts / (expert_copies(s.parallelism) * copies) : 0);
}

double sharded_from(int zero, const Scenario& s, Held held, std::uint32_t copies) {
  return s.data_parallel.zero >= zero ? sharded(s, held, copies) : held.all;
}

double updated(const Scenario& s, Held held, std::uint32_t copies) { return sharded_from(1, s, held, copies); }

std::string_view algorithm(DataParallelMode mode) {
  switch (mode) {
    case DataParallelMode::all_reduce:
      return "library";
    case DataParallelMode::parameter_server:
      return "parameter-server";
    case DataParallelMode::sharded_parameter_server:
      return "sharded-parameter-server";
  }
  return {};
}

}  // namespace stepcast::schedules
