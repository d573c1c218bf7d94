#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::schedules {

enum class StageId : std::uint32_t {};
enum class MicroBatchId : std::uint32_t {};
constexpr std::uint32_t index(StageId s) { return static_cast<std::uint32_t>(s); }
constexpr std::uint32_t index(MicroBatchId m) { return static_cast<std::uint32_t>(m); }

/// What a pipeline is made of. Virtual stage v of stage s holds model chunk v * stages + s.
struct Shape {
  std::uint32_t stages = 1, micro_batches = 1, virtual_stages = 1;
  bool splits_backward = false;  ///< backward is the inputs' gradients alone; the weights' are passes of their own
};

enum class PassKind : std::uint8_t { forward, backward, weight };
inline constexpr std::size_t kPassKinds = 3;

/// The pass after which nothing of a visit is kept: its activations are freed, its gradients are whole.
constexpr PassKind last_pass(Shape shape) { return shape.splits_backward ? PassKind::weight : PassKind::backward; }

/// One visit of a micro-batch to one model chunk of a stage.
struct Pass {
  PassKind kind{};
  MicroBatchId micro_batch{};
  std::uint32_t virtual_stage = 0;
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// One stage's passes, in the order it runs them.
using StageOrder = std::vector<Pass>;

/// A pipeline schedule, by the name users type. `order` is pure; `supports` says in words why a shape is refused ("" =
/// fine).
struct PipelineSchedule {
  std::string_view name, summary, source;
  std::string (*supports)(Shape);
  StageOrder (*order)(Shape, StageId);
  bool splits_backward = false;  ///< what its shapes must say
};

}  // namespace stepcast::schedules
