#include <algorithm>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// `ahead` forwards, then one forward, one backward, and the weights' gradients `behind` backwards later; those left
/// over fill the end.
StageOrder delayed(std::uint32_t micro_batches, std::uint32_t ahead, std::uint32_t behind) {
  StageOrder order;
  order.reserve(std::size_t{micro_batches} * 3);
  std::uint32_t f = 0, w = 0;
  for (; f < std::min(ahead, micro_batches); ++f) order.push_back({PassKind::forward, MicroBatchId{f}});
  for (std::uint32_t b = 0; b < micro_batches; ++b) {
    if (f < micro_batches) order.push_back({PassKind::forward, MicroBatchId{f++}});
    order.push_back({PassKind::backward, MicroBatchId{b}});
    // No forward left to feed the stages below: what waits goes between the backwards.
    if (b >= behind || f == micro_batches) order.push_back({PassKind::weight, MicroBatchId{w++}});
  }
  for (; w < micro_batches; ++w) order.push_back({PassKind::weight, MicroBatchId{w}});
  return order;
}

/// Memory of 1F1B's first stage on every stage: p micro-batches. The bubble is (p - 1)(F + B - W).
StageOrder h1_order(Shape shape, StageId stage) {
  return delayed(shape.micro_batches, shape.stages - index(stage) - 1, index(stage));
}

/// 2p - 1 micro-batches on every stage; every stage waits (p - 1)(F + B - 2W) at most between its first pass and its
/// last, nothing where all three take as long.
StageOrder h2_order(Shape shape, StageId stage) {
  return delayed(shape.micro_batches, 2 * (shape.stages - index(stage)) - 2, 2 * index(stage));
}

}  // namespace

extern const PipelineSchedule zero_bubble_h1, zero_bubble_h2;

constinit const PipelineSchedule zero_bubble_h1{
    .name = "zb-h1",
    .summary = "1f1b whose gradients of weights wait and fill the end: a third of the bubble in the same memory",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv:2401.10241, section 2.1 and table 2",
    .supports = [](Shape shape) { return single_chunk_problem("zb-h1", shape); },
    .order = h1_order,
    .splits_backward = true};

constinit const PipelineSchedule zero_bubble_h2{
    .name = "zb-h2",
    .summary = "twice the forwards ahead and no bubble but the way down and up: twice the memory",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv:2401.10241, section 2.2 and table 2",
    .supports = [](Shape shape) { return single_chunk_problem("zb-h2", shape); },
    .order = h2_order,
    .splits_backward = true};

}  // namespace stepcast::schedules
