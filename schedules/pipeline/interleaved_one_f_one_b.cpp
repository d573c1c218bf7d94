#include <fmt/format.h>

#include <algorithm>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {

extern const PipelineSchedule one_f_one_b;

namespace {

/// The k-th forward of every stage: micro-batches go in groups of p, and a group visits chunk 0, 1, ... v-1 of the
/// stage before the next group starts. Backwards walk the same list with the chunks turned round.
/// Source: Megatron-LM, megatron/core/pipeline_parallel/schedules.py, get_model_chunk_id and
/// get_microbatch_id_in_model_chunk.
Pass nth(Shape shape, PassKind kind, std::uint32_t k) {
  const std::uint32_t p = shape.stages, v = shape.virtual_stages;
  const std::uint32_t group = k / (p * v), in_group = k % (p * v), chunk = in_group / p;
  return {kind, MicroBatchId{group * p + in_group % p}, kind == PassKind::forward ? chunk : v - chunk - 1};
}

/// Stage s runs 2(p-s-1) + (v-1)p forwards ahead, then one forward, one backward, and drains: the bubble is (p-1)/(v m)
/// of the ideal time, and the stage holds at most one chunk-activation more than its warm-up.
/// One chunk per stage is plain 1F1B, as in Megatron-LM: the longer warm-up would hold more and save nothing.
StageOrder interleaved_one_f_one_b_order(Shape shape, StageId stage) {
  if (shape.virtual_stages == 1) return one_f_one_b.order(shape, stage);
  const std::uint32_t p = shape.stages, v = shape.virtual_stages, passes = shape.micro_batches * v;
  const std::uint32_t ahead = std::min((p - index(stage) - 1) * 2 + (v - 1) * p, passes);
  StageOrder order;
  order.reserve(std::size_t{passes} * 2);
  for (std::uint32_t k = 0; k < ahead; ++k) order.push_back(nth(shape, PassKind::forward, k));
  for (std::uint32_t k = 0; k < passes; ++k) {
    if (k < passes - ahead) order.push_back(nth(shape, PassKind::forward, ahead + k));
    order.push_back(nth(shape, PassKind::backward, k));
  }
  return order;
}

std::string interleaved_supports(Shape shape) {
  if (std::string problem = shape_problem(shape); !problem.empty()) return problem;
  if (shape.micro_batches % shape.stages == 0) return "";
  return fmt::format("interleaved-1f1b needs micro-batches ({}) to be a multiple of pipeline stages ({})",
                     shape.micro_batches, shape.stages);
}

}  // namespace

extern const PipelineSchedule interleaved_one_f_one_b;
constinit const PipelineSchedule interleaved_one_f_one_b{
    .name = "interleaved-1f1b",
    .summary = "1f1b over several model chunks per stage: a smaller bubble for more messages and memory",
    .source = "Narayanan et al., Megatron-LM, SC 2021, arXiv:2104.04473, section 2.2.2 and figure 4 bottom",
    .supports = interleaved_supports,
    .order = interleaved_one_f_one_b_order};

}  // namespace stepcast::schedules
