#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Forward then backward of micro-batch 0 through all stages, then of micro-batch 1: one stage works at a time, so with
/// equal stages each of the p is busy 1/p of the step. At most one micro-batch is in flight.
StageOrder vanilla_order(Shape shape, StageId) {
  StageOrder order;
  order.reserve(std::size_t{shape.micro_batches} * 2);
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
    order.push_back({PassKind::forward, MicroBatchId{m}});
    order.push_back({PassKind::backward, MicroBatchId{m}});
  }
  return order;
}

}  // namespace

extern const PipelineSchedule vanilla;
constinit const PipelineSchedule vanilla{
    .name = "vanilla",
    .summary = "one micro-batch in the whole pipeline at a time",
    .source = "Harlap et al., PipeDream, arXiv:1806.03377, figure 2 (model parallelism without pipelining)",
    .supports = [](Shape shape) { return single_chunk_problem("vanilla", shape); },
    .order = vanilla_order};

}  // namespace stepcast::schedules
