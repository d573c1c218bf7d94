#include <algorithm>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Stage s runs p-s-1 forwards ahead, then one forward, one backward, and drains: as long as GPipe, (m+p-1)(f+b), but
/// it never holds more than min(m, p-s) micro-batches.
StageOrder one_f_one_b_order(Shape shape, StageId stage) {
  const std::uint32_t m = shape.micro_batches, ahead = std::min(shape.stages - index(stage) - 1, m);
  StageOrder order;
  order.reserve(std::size_t{m} * 2);
  for (std::uint32_t f = 0; f < ahead; ++f) order.push_back({PassKind::forward, MicroBatchId{f}});
  for (std::uint32_t b = 0; b < m; ++b) {
    if (b < m - ahead) order.push_back({PassKind::forward, MicroBatchId{ahead + b}});
    order.push_back({PassKind::backward, MicroBatchId{b}});
  }
  return order;
}

}  // namespace

extern const PipelineSchedule one_f_one_b;
constinit const PipelineSchedule one_f_one_b{
    .name = "1f1b",
    .summary = "one forward, one backward after a warm-up; holds at most one micro-batch per later stage and its own",
    .source =
        "Narayanan et al., Megatron-LM, SC 2021, arXiv:2104.04473, figure 4 top (PipeDream-Flush, "
        "arXiv:2006.09503)",
    .supports = [](Shape shape) { return single_chunk_problem("1f1b", shape); },
    .order = one_f_one_b_order,
    .period = [](Shape) { return 1u; }};

}  // namespace stepcast::schedules
