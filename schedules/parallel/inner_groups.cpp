#include "schedules/parallel/inner_groups.h"

#include <algorithm>
#include <set>

namespace stepcast::schedules {
namespace {

using collectives::Group;

/// Of all groups, the one at `own` first, then those with a GPU in one of its neighbourhoods.
template <class MakeGroup>
std::vector<Group> beside(const Ranks& ranks, std::uint32_t own, std::uint32_t groups, const MakeGroup& make) {
  std::vector<Group> out{make(own)};
  std::set<std::uint32_t> neighbourhoods;
  for (const topology::GpuId g : out[0]) neighbourhoods.insert(ranks.neighbourhood(g));
  for (std::uint32_t other = 0; other < groups; ++other) {
    if (other == own) continue;
    Group group = make(other);
    if (std::ranges::any_of(group, [&](topology::GpuId g) { return neighbourhoods.contains(ranks.neighbourhood(g)); }))
      out.push_back(std::move(group));
  }
  return out;
}

/// Of `size` ranks each, whose places in the stage are `stride` apart.
std::vector<Group> apart(const Ranks& ranks, Coordinate c, std::uint32_t size, std::uint32_t stride) {
  const std::uint32_t place = ranks.place_in_stage(c), own = place / (size * stride) * stride + place % stride;
  return beside(ranks, own, ranks.stage_ranks() / size, [&](std::uint32_t number) {
    const std::uint32_t first = number / stride * stride * size + number % stride;
    Group group;
    for (std::uint32_t i = 0; i < size; ++i) group.push_back(ranks.gpu(ranks.in_stage(first + i * stride, c.stage)));
    return group;
  });
}

}  // namespace

std::vector<Group> grid_rows_beside(const Ranks& ranks, Coordinate c) {
  const TensorGrid g = grid(ranks.plan());
  return is_grid(g) ? apart(ranks, c, g.columns, 1) : ranks.tensor_groups_beside(c);
}

std::vector<Group> grid_columns_beside(const Ranks& ranks, Coordinate c) {
  const TensorGrid g = grid(ranks.plan());
  return apart(ranks, c, g.rows, g.columns);
}

std::vector<Group> grid_depths_beside(const Ranks& ranks, Coordinate c) {
  const TensorGrid g = grid(ranks.plan());
  return apart(ranks, c, g.depth, g.columns * g.rows);
}

std::vector<Group> kv_copies_beside(const Ranks& ranks, Coordinate c, std::int64_t copies) {
  return apart(ranks, c, static_cast<std::uint32_t>(copies), 1);
}

std::vector<Group> expert_groups_beside(const Ranks& ranks, Coordinate c) {
  return apart(ranks, c, ranks.plan().expert, ranks.plan().expert_tensor);
}

std::vector<Group> expert_tensor_groups_beside(const Ranks& ranks, Coordinate c) {
  return apart(ranks, c, ranks.plan().expert_tensor, 1);
}

std::vector<Group> expert_copies_of_stage(const Ranks& ranks, Coordinate c, std::optional<std::uint32_t> copy) {
  const std::uint32_t stride = expert_ranks(ranks.plan()), tensor = ranks.plan().tensor,
                      size = ranks.stage_ranks() / stride;
  std::vector<Group> out;
  for (std::uint32_t turn = 0; turn < tensor; ++turn) {
    for (std::uint32_t first = (c.tensor + turn) % tensor; first < stride; first += tensor) {
      Group& group = out.emplace_back();
      for (std::uint32_t i = 0; i < size; ++i) group.push_back(ranks.gpu(ranks.in_stage(first + i * stride, c.stage)));
      if (copy)
        for (std::uint32_t i = 0; i < size; ++i) group.push_back(ranks.gpu(ranks.in_stage(first + i * stride, *copy)));
    }
  }
  return out;
}

std::vector<Group> context_groups_beside(const Ranks& ranks, Coordinate c) {
  return apart(ranks, c, ranks.plan().context, ranks.plan().tensor);
}

std::vector<Group> context_rings_beside(const Ranks& ranks, Coordinate c) {
  std::vector<Group> pairs;
  for (const Group& ring : context_groups_beside(ranks, c))
    for (std::size_t i = 0; i < ring.size(); ++i) pairs.push_back({ring[i], ring[(i + 1) % ring.size()]});
  return pairs;
}

}  // namespace stepcast::schedules
