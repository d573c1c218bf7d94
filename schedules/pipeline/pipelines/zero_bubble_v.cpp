#include <algorithm>
#include <array>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Passes of one stage, numbered from 0 per virtual stage and kind; those of micro-batches past the last are dropped.
class ZeroBubbleOrder {
 public:
  explicit ZeroBubbleOrder(std::uint32_t micro_batches) : micro_batches_(micro_batches) {}
  void add(PassKind kind, std::uint32_t virtual_stage) {
    const std::uint32_t m = done(kind, virtual_stage)++;
    if (m < micro_batches_) order_.push_back({kind, MicroBatchId{m}, virtual_stage});
  }
  std::uint32_t& done(PassKind kind, std::uint32_t virtual_stage) {
    return done_[virtual_stage][static_cast<std::size_t>(kind)];
  }
  StageOrder take() { return std::move(order_); }

 private:
  std::uint32_t micro_batches_;
  std::array<std::array<std::uint32_t, 3>, 2> done_{};
  StageOrder order_;
};

/// Every stage holds chunk a on the way down and chunk b on the way up, so the last stage turns round at once and the
/// loss is on stage 0. It never holds more than 2p chunks' activations, p whole stages' as 1F1B's first stage does, and
/// where F, B and W take as long no stage waits between its first pass and its last.
StageOrder v_order(Shape shape, StageId stage) {
  using enum PassKind;
  const std::uint32_t p = shape.stages, s = index(stage), m = shape.micro_batches;
  constexpr std::uint32_t a = 0, b = 1;
  // As with more micro-batches, if there are too few to fill the stages.
  const std::uint32_t full = std::max(2 * p - 1, m);
  ZeroBubbleOrder sequence(m);
  for (std::uint32_t i = 0; i < 2 * (p - s) - 1; ++i) sequence.add(forward, a);
  for (std::uint32_t i = 0; i < s; ++i) {
    sequence.add(forward, b);
    sequence.add(forward, a);
  }
  for (std::uint32_t i = 0; i < p - s; ++i)
    for (const PassKind kind : {forward, backward, weight}) sequence.add(kind, b);
  while (sequence.done(forward, b) < full) {
    if (sequence.done(forward, a) < full) sequence.add(forward, a);
    sequence.add(backward, a);
    sequence.add(weight, a);
    for (const PassKind kind : {forward, backward, weight}) sequence.add(kind, b);
  }
  for (std::uint32_t i = 0; i < s; ++i) {
    sequence.add(backward, a);
    sequence.add(backward, b);
  }
  for (std::uint32_t i = 0; i < p - s; ++i) {
    sequence.add(backward, a);
    sequence.add(weight, a);
  }
  for (const std::uint32_t v : {b, a})
    while (sequence.done(weight, v) < full) sequence.add(weight, v);
  return sequence.take();
}

}  // namespace

extern const PipelineSchedule zero_bubble_v;
constinit const PipelineSchedule zero_bubble_v{
    .name = "zb-v",
    .summary = "two chunks per stage, down and up again: no bubble where all passes are equal, in the memory of 1f1b",
    .source =
        "Qi et al., Zero Bubble Pipeline Parallelism, arXiv:2401.10241, section 6; V-ZB of Pipeline Parallelism with "
        "Controllable Memory, arXiv:2405.15362",
    .supports = [](Shape shape) { return two_way_problem("zb-v", shape); },
    .order = v_order,
    .splits_backward = true,
    .placement = Placement::v_shape,
    .virtual_stages = 2};

}  // namespace stepcast::schedules
