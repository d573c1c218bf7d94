#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/placement.h"

namespace stepcast::schedules {

enum class StageId : std::uint32_t {};
enum class MicroBatchId : std::uint32_t {};
constexpr std::uint32_t index(StageId s) { return static_cast<std::uint32_t>(s); }
constexpr std::uint32_t index(MicroBatchId m) { return static_cast<std::uint32_t>(m); }

/// What a pipeline is made of.
struct Shape {
  std::uint32_t stages = 1, micro_batches = 1, virtual_stages = 1;
  bool splits_backward = false;  ///< backward is the inputs' gradients alone; the weights' are passes of their own
  Placement placement = Placement::looping;
  std::uint32_t micro_batch_group = 0;  ///< that visit a chunk before the next chunk's turn; 0: as the schedule has it
};

/// Where backward is split, `backward` makes the inputs' gradients and `weight` the weights'; `whole_backward` is both
/// in one pass after all, which nobody may use before both are there.
enum class PassKind : std::uint8_t { forward, backward, weight, whole_backward };

/// Whether nothing of a visit is kept after this pass: its activations are freed, its gradients are whole.
constexpr bool is_last(Shape shape, PassKind kind) {
  return kind == PassKind::whole_backward || kind == (shape.splits_backward ? PassKind::weight : PassKind::backward);
}

/// One visit of a micro-batch to one model chunk of a stage.
struct Pass {
  PassKind kind{};
  MicroBatchId micro_batch{};
  std::uint32_t virtual_stage = 0;
  /// A forward that runs together with the backward after it, layer by layer: each hides the other's traffic, and what
  /// the one keeps comes as the other's goes.
  bool with_next = false;
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// One stage's passes, in the order it runs them.
using StageOrder = std::vector<Pass>;

/// When a stage's weights change.
enum class Updates : std::uint8_t {
  after_flush,       ///< once per step, when the pipeline is empty: every micro-batch meets the same weights
  each_step,         ///< once per step, and the pipeline never empties
  each_micro_batch,  ///< after every backward, and the pipeline never empties
};

/// A pipeline schedule, by the name users type. `order` is pure; `supports` says in words why a shape is refused ("" =
/// fine).
struct PipelineSchedule {
  std::string_view name, summary, source;
  std::string (*supports)(Shape);
  StageOrder (*order)(Shape, StageId);
  bool splits_backward = false;  ///< what its shapes must say
  Placement placement = Placement::looping;
  std::uint32_t virtual_stages = 0;  ///< the only number it is made for; 0: any that `supports` accepts
  bool runs_together = false;        ///< some forwards run with a backward at once
  bool in_groups = false;            ///< micro-batches visit several chunks in groups: Shape::micro_batch_group
  Updates updates = Updates::after_flush;
  /// Micro-batches after which the middle of every stage's order repeats: with so many fewer the orders are the same
  /// but for one such period, if the shape says how micro-batches are grouped. nullptr: not known.
  std::uint32_t (*period)(Shape) = nullptr;
  /// How many versions of its weights a stage keeps for micro-batches in flight; nullptr: one.
  std::uint32_t (*weight_versions)(Shape, StageId) = nullptr;
};

/// The shape that the schedule has with so many stages and micro-batches. `virtual_stages` counts where it lets one
/// choose.
constexpr Shape shape_of(const PipelineSchedule& schedule, std::uint32_t stages, std::uint32_t micro_batches,
                         std::uint32_t virtual_stages = 1) {
  return {stages, micro_batches, schedule.virtual_stages > 0 ? schedule.virtual_stages : virtual_stages,
          schedule.splits_backward, schedule.placement};
}

}  // namespace stepcast::schedules
