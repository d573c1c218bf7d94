#include <fmt/format.h>

#include <algorithm>

#include "schedules/pipeline/micro_batch_groups.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {

extern const PipelineSchedule one_f_one_b;

namespace {

/// The k-th forward of every stage: micro-batches go in groups, the last one of those that are left, and a group visits
/// chunk 0, 1, ... v-1 of the stage before the next group starts. Backwards walk the same list with the chunks turned
/// round.
/// Source: Megatron-LM, megatron/core/pipeline_parallel/schedules.py, get_schedule_table and get_model_chunk_id.
Pass nth(Shape shape, std::uint32_t group, PassKind kind, std::uint32_t k) {
  const std::uint32_t v = shape.virtual_stages, first = k / (group * v) * group;
  const std::uint32_t size = std::min(group, shape.micro_batches - first), in_group = k - first * v;
  const std::uint32_t chunk = in_group / size;
  return {kind, MicroBatchId{first + in_group % size}, kind == PassKind::forward ? chunk : v - chunk - 1};
}

/// Stage s runs 2(p-s-1) + (v-1)g forwards ahead, g in a group, then one forward, one backward, and drains: the bubble
/// is (p-1)/(v m) of the ideal time, and the stage holds at most one chunk-activation more than its warm-up.
/// One chunk per stage is plain 1F1B, as in Megatron-LM: the longer warm-up would hold more and save nothing.
StageOrder interleaved_one_f_one_b_order(Shape shape, StageId stage) {
  if (shape.virtual_stages == 1) return one_f_one_b.order(shape, stage);
  const std::uint32_t p = shape.stages, v = shape.virtual_stages, passes = shape.micro_batches * v;
  const std::uint32_t group = group_size(shape);
  const std::uint32_t ahead = std::min((p - index(stage) - 1) * 2 + (v - 1) * group, passes);
  StageOrder order;
  order.reserve(std::size_t{passes} * 2);
  for (std::uint32_t k = 0; k < ahead; ++k) order.push_back(nth(shape, group, PassKind::forward, k));
  for (std::uint32_t k = 0; k < passes; ++k) {
    if (k < passes - ahead) order.push_back(nth(shape, group, PassKind::forward, ahead + k));
    order.push_back(nth(shape, group, PassKind::backward, k));
  }
  return order;
}

/// Sizes next to one that cannot group, "4 or 7".
std::string nearest_groups(Shape shape, std::uint32_t size) {
  std::uint32_t less = size, more = size;
  while (less >= shape.stages && !can_group(shape, less)) --less;
  while (!can_group(shape, more)) ++more;  // all of them can
  return (less < shape.stages ? "" : fmt::format("{} or ", less)) + std::to_string(more);
}

std::string interleaved_supports(Shape shape) {
  if (std::string problem = shape_problem(shape); !problem.empty() || shape.virtual_stages == 1) return problem;
  const std::uint32_t p = shape.stages, m = shape.micro_batches, group = shape.micro_batch_group;
  if (m < p)
    return fmt::format("interleaved-1f1b needs at least as many micro-batches ({}) as pipeline stages ({})", m, p);
  if (group == 0 || can_group(shape, group)) return "";
  if (group < p || group > m)
    return fmt::format("found groups of {} micro-batches, expected {} (pipeline stages) to {} (all)", group, p, m);
  return fmt::format(
      "groups of {} leave a last one of {} of {} micro-batches, expected none or at least the {} stages; nearest: {}",
      group, m % group, m, p, nearest_groups(shape, group));
}

}  // namespace

extern const PipelineSchedule interleaved_one_f_one_b;
constinit const PipelineSchedule interleaved_one_f_one_b{
    .name = "interleaved-1f1b",
    .summary = "1f1b over several model chunks per stage: a smaller bubble for more messages and memory",
    .source = "Narayanan et al., Megatron-LM, SC 2021, arXiv:2104.04473, section 2.2.2 and figure 4 bottom",
    .supports = interleaved_supports,
    .order = interleaved_one_f_one_b_order,
    .in_groups = true,
    .period = [](Shape shape) { return shape.virtual_stages == 1 ? 1 : group_size(shape); }};

}  // namespace stepcast::schedules
