#include <fmt/format.h>

#include <array>
#include <deque>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// What DualPipe's figure and its authors' description give one rank, seen from the end of the pipeline that it is
/// nearer to: `way` 0 are the micro-batches that came in at that end, `way` 1 those that come towards it.
class DualPipeOrder {
 public:
  /// The first micro-batch and the virtual stage of each way.
  struct Direction {
    std::uint32_t first = 0, virtual_stage = 0;
  };
  explicit DualPipeOrder(std::array<Direction, 2> ways) : ways_(ways) {}

  void forward(int way, bool with_next = false) {
    order_.push_back(next(PassKind::forward, way, forwards_));
    order_.back().with_next = with_next;
  }
  void whole_backward(int way) { order_.push_back(next(PassKind::whole_backward, way, backwards_)); }
  /// The weights' gradients wait for weight().
  void backward(int way) {
    order_.push_back(next(PassKind::backward, way, backwards_));
    waiting_.push_back(order_.back());
  }
  void weight() {
    order_.push_back(waiting_.front());
    order_.back().kind = PassKind::weight;
    waiting_.pop_front();
  }
  void together(int forward_way, int backward_way) {
    forward(forward_way, true);
    whole_backward(backward_way);
  }
  StageOrder take() { return std::move(order_); }

 private:
  Pass next(PassKind kind, int way, std::array<std::uint32_t, 2>& counts) {
    const auto w = static_cast<std::size_t>(way);
    return {kind, MicroBatchId{ways_[w].first + counts[w]++}, ways_[w].virtual_stage};
  }

  std::array<Direction, 2> ways_;
  std::array<std::uint32_t, 2> forwards_{}, backwards_{};
  std::deque<Pass> waiting_;
  StageOrder order_;
};

/// The order of the rank `r` places from its end of a pipeline `half` places deep to the middle, `n` micro-batches each
/// way.
StageOrder dual_order(std::uint32_t half, std::uint32_t r, std::uint32_t n,
                      std::array<DualPipeOrder::Direction, 2> ways) {
  const std::uint32_t to_middle = half - r - 1;
  DualPipeOrder sequence(ways);
  for (std::uint32_t i = 0; i < 2 * to_middle; ++i) sequence.forward(0);
  for (std::uint32_t i = 0; i <= r; ++i) {
    sequence.forward(0);
    sequence.forward(1);
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    sequence.backward(1);
    sequence.weight();
    sequence.forward(1);
  }
  for (std::uint32_t i = 0; i < n - 2 * half + r + 1; ++i) {
    if (i == 0 && to_middle == 0) {  // in the middle the first two are kept apart: the bubble is smaller so
      sequence.forward(0);
      sequence.whole_backward(1);
    } else {
      sequence.together(0, 1);
    }
    sequence.together(1, 0);
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    sequence.whole_backward(1);
    sequence.together(1, 0);
  }
  // Of the 2 (r + 1) backwards that are left to both ways, the second half leave the weights' gradients for the end.
  for (std::uint32_t i = 0; i < 2 * (r + 1); ++i) {
    const int way = i % 2 == 0 ? 1 : 0;
    if (i <= r)
      sequence.whole_backward(way);
    else
      sequence.backward(way);
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    sequence.weight();
    sequence.backward(0);
  }
  for (std::uint32_t i = 0; i <= r; ++i) sequence.weight();
  return sequence.take();
}

/// p + 1 chunks' activations on every stage; the bubble is (p/2 - 1)(F&B + B - 3W), B with W.
StageOrder dualpipe_order(Shape shape, StageId stage) {
  const std::uint32_t p = shape.stages, s = index(stage), n = shape.micro_batches / 2;
  std::array<DualPipeOrder::Direction, 2> ways{{{0, 0}, {n, 1}}};
  if (s >= p / 2) std::swap(ways[0], ways[1]);
  return dual_order(p / 2, std::min(s, p - 1 - s), n, ways);
}

/// DualPipe's first half of a pipeline twice as deep: a micro-batch that leaves it in the middle comes back on the way
/// up, and one copy of the model is enough.
StageOrder dualpipe_v_order(Shape shape, StageId stage) {
  return dual_order(shape.stages, index(stage), shape.micro_batches, {{{0, 0}, {0, 1}}});
}

std::string enough(std::string_view name, Shape shape) {
  if (std::string problem = two_way_problem(name, shape); !problem.empty()) return problem;
  if (shape.placement == Placement::opposite && shape.micro_batches % 2 != 0)
    return fmt::format("{} needs an even number of micro-batches, found {}", name, shape.micro_batches);
  if (shape.micro_batches >= 2 * std::uint64_t{shape.stages}) return "";
  return fmt::format("{} needs at least twice as many micro-batches ({}) as pipeline stages ({})", name,
                     shape.micro_batches, shape.stages);
}

}  // namespace

extern const PipelineSchedule dualpipe, dualpipe_v;

constinit const PipelineSchedule dualpipe{
    .name = "dualpipe",
    .summary =
        "two ways through two copies of the model, a forward and a backward at once: each hides the other's traffic",
    .source = "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv:2412.19437, section 3.2.1, figure 5 and table 2",
    .supports = [](Shape shape) { return enough("dualpipe", shape); },
    .order = dualpipe_order,
    .splits_backward = true,
    .placement = Placement::opposite,
    .virtual_stages = 2,
    .runs_together = true};

constinit const PipelineSchedule dualpipe_v{
    .name = "dualpipe-v",
    .summary = "dualpipe cut in half: two chunks per stage, down and up again, of one copy of the model",
    .source = "github.com/deepseek-ai/DualPipe, DualPipeV, after Sea AI Lab's cut-in-half",
    .supports = [](Shape shape) { return enough("dualpipe-v", shape); },
    .order = dualpipe_v_order,
    .splits_backward = true,
    .placement = Placement::v_shape,
    .virtual_stages = 2,
    .runs_together = true};

}  // namespace stepcast::schedules
