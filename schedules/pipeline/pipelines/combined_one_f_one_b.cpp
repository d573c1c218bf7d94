#include <fmt/format.h>

#include <utility>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {

extern const PipelineSchedule interleaved_one_f_one_b;

namespace {

/// Interleaved 1F1B, but each backward goes together with the forward after it: after one forward more than that
/// schedule's warm-up, a stage's pairs are of micro-batches of which neither waits for the other. As long as
/// interleaved 1F1B where a pair takes its passes' sum, (v m + p - 1)(f + b). A pair goes layer by layer, so that of
/// its two micro-batches' activations there are those of one, and of one layer more. Source: Megatron-LM,
/// megatron/core/pipeline_parallel/schedules.py, get_pp_rank_microbatches (one more warm-up) and combined_1f1b.py;
/// megatron/core/models/common/model_chunk_schedule_plan.py, TransformerModelChunkSchedulePlan.run: forward of layer i
/// beside backward of layer L - 1 - i, whose state is then released.
StageOrder combined_one_f_one_b_order(Shape shape, StageId stage) {
  StageOrder order = interleaved_one_f_one_b.order(shape, stage);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (order[i].kind != PassKind::backward || order[i + 1].kind != PassKind::forward) continue;
    std::swap(order[i], order[i + 1]);
    order[i].with_next = true;
    ++i;
  }
  return order;
}

std::string combined_supports(Shape shape) {
  if (std::string problem = shape_problem(shape); !problem.empty()) return problem;
  if (shape.stages > 1 && shape.virtual_stages == 1)
    return "combined-1f1b needs several virtual stages: with one, a stage's pair would wait for its neighbour's";
  if (shape.micro_batches % shape.stages == 0) return "";
  return fmt::format("combined-1f1b needs micro-batches ({}) to be a multiple of pipeline stages ({})",
                     shape.micro_batches, shape.stages);
}

}  // namespace

extern const PipelineSchedule combined_one_f_one_b;
constinit const PipelineSchedule combined_one_f_one_b{
    .name = "combined-1f1b",
    .summary = "interleaved-1f1b whose forwards and backwards run together in pairs: each hides the other's traffic",
    .source = "Megatron-Core, --overlap-moe-expert-parallel-comm: megatron/core/pipeline_parallel/combined_1f1b.py",
    .supports = combined_supports,
    .order = combined_one_f_one_b_order,
    .runs_together = true};

}  // namespace stepcast::schedules
