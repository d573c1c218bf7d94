#pragma once

#include <cstdint>
#include <optional>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// One chunk of layers of one copy of the model.
struct ModelChunk {
  std::uint32_t copy = 0, chunk = 0;
  friend bool operator==(const ModelChunk&, const ModelChunk&) = default;
};

/// Where a chunk is.
struct ChunkPlace {
  std::uint32_t stage = 0, virtual_stage = 0;
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

/// Copies of the model that the stages of one pipeline hold together.
constexpr std::uint32_t copies(Shape shape) { return shape.placement == Placement::opposite ? 2 : 1; }

/// Chunks that each copy is cut into.
constexpr std::uint32_t chunks(Shape shape) { return shape.stages * shape.virtual_stages / copies(shape); }

/// Whether forward goes from this virtual stage to the next stage, or else to the one before.
constexpr bool goes_down(Shape shape, std::uint32_t virtual_stage) {
  switch (shape.placement) {
    case Placement::looping:
      return true;
    case Placement::v_shape:
      return virtual_stage % 2 == 0;
    case Placement::opposite:
      return virtual_stage < shape.virtual_stages / 2;
  }
  return true;
}

/// What a virtual stage holds.
constexpr ModelChunk held(Shape shape, ChunkPlace at) {
  const std::uint32_t along = goes_down(shape, at.virtual_stage) ? at.stage : shape.stages - 1 - at.stage;
  const std::uint32_t of_copy = shape.virtual_stages / copies(shape);
  return {at.virtual_stage / of_copy, at.virtual_stage % of_copy * shape.stages + along};
}

/// Where a chunk is held: the inverse of `held`.
constexpr ChunkPlace place(Shape shape, ModelChunk at) {
  const std::uint32_t of_copy = shape.virtual_stages / copies(shape);
  const std::uint32_t virtual_stage = at.copy * of_copy + at.chunk / shape.stages, along = at.chunk % shape.stages;
  return {goes_down(shape, virtual_stage) ? along : shape.stages - 1 - along, virtual_stage};
}

/// The copy of the model that a micro-batch goes through: the first half through the first, the rest through the next.
constexpr std::uint32_t copy_of(Shape shape, MicroBatchId micro_batch) {
  return copies(shape) == 1 ? 0 : index(micro_batch) / ((shape.micro_batches + 1) / 2);
}

/// Whether a micro-batch goes through this virtual stage at all.
constexpr bool visits(Shape shape, MicroBatchId micro_batch, std::uint32_t virtual_stage) {
  return held(shape, {0, virtual_stage}).copy == copy_of(shape, micro_batch);
}

/// Where the micro-batch at `at` goes next, in forward direction or back; nothing at the end of the model.
constexpr std::optional<ChunkPlace> next_place(Shape shape, ChunkPlace at, bool forward) {
  const ModelChunk here = held(shape, at);
  if (forward ? here.chunk + 1 == chunks(shape) : here.chunk == 0) return std::nullopt;
  return place(shape, {here.copy, forward ? here.chunk + 1 : here.chunk - 1});
}

}  // namespace stepcast::schedules
