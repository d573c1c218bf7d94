#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// All forwards, then all backwards, last micro-batch first: figure 2(c) of the paper draws B_{3,3} B_{3,2} B_{3,1}
/// B_{3,0} after F_{3,3}, and torchgpipe (Kim et al., arXiv:2004.09910, section 2) does the same. PyTorch's
/// ScheduleGPipe goes first micro-batch first; with equal micro-batches both take (m+p-1)(f+b).
/// Every stage holds all m micro-batches when its forwards are done.
StageOrder gpipe_order(Shape shape, StageId) {
  StageOrder order;
  order.reserve(std::size_t{shape.micro_batches} * 2);
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m) order.push_back({PassKind::forward, MicroBatchId{m}});
  for (std::uint32_t m = shape.micro_batches; m > 0; --m) order.push_back({PassKind::backward, MicroBatchId{m - 1}});
  return order;
}

}  // namespace

extern const PipelineSchedule gpipe;
constinit const PipelineSchedule gpipe{
    .name = "gpipe",
    .summary = "all forwards, then all backwards in reverse; holds every micro-batch",
    .source = "Huang et al., GPipe, NeurIPS 2019, arXiv:1811.06965, figure 2(c)",
    .supports = [](Shape shape) { return single_chunk_problem("gpipe", shape); },
    .order = gpipe_order};

}  // namespace stepcast::schedules
