#include "schedules/pipeline/placement.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

TEST(Placement, LoopsOverTheStages) {
  const Shape shape{4, 8, 2};
  EXPECT_EQ(held(shape, {1, 0}), (ModelChunk{0, 1}));
  EXPECT_EQ(held(shape, {1, 1}), (ModelChunk{0, 5}));
  EXPECT_EQ(next_place(shape, {3, 0}, true), (ChunkPlace{0, 1}));
  EXPECT_EQ(next_place(shape, {0, 1}, false), (ChunkPlace{3, 0}));
  EXPECT_EQ(next_place(shape, {3, 1}, true), std::nullopt);
}

TEST(Placement, OfAVTurnsRoundOnTheLastStage) {
  const Shape shape{4, 8, 2, true, Placement::v_shape};
  EXPECT_EQ(held(shape, {1, 0}), (ModelChunk{0, 1}));
  EXPECT_EQ(held(shape, {1, 1}), (ModelChunk{0, 6}));
  EXPECT_EQ(next_place(shape, {3, 0}, true), (ChunkPlace{3, 1}));
  EXPECT_EQ(next_place(shape, {3, 1}, true), (ChunkPlace{2, 1}));
  EXPECT_EQ(next_place(shape, {0, 1}, true), std::nullopt);
}

TEST(Placement, OfTwoCopiesRunsOppositeWays) {
  const Shape shape{4, 8, 2, false, Placement::opposite};
  EXPECT_EQ(copies(shape), 2u);
  EXPECT_EQ(chunks(shape), 4u);
  EXPECT_EQ(held(shape, {1, 0}), (ModelChunk{0, 1}));
  EXPECT_EQ(held(shape, {1, 1}), (ModelChunk{1, 2}));
  EXPECT_EQ(next_place(shape, {1, 1}, true), (ChunkPlace{0, 1}));
  EXPECT_EQ(copy_of(shape, MicroBatchId{3}), 0u);
  EXPECT_EQ(copy_of(shape, MicroBatchId{4}), 1u);
  EXPECT_FALSE(visits(shape, MicroBatchId{4}, 0));
}

TEST(Placement, PlaceUndoesHeldAndEveryChunkIsOnOneStage) {
  for (const Placement placement : {Placement::looping, Placement::v_shape, Placement::opposite})
    for (std::uint32_t p = 2; p <= 6; p += 2)
      for (std::uint32_t v = 2; v <= (placement == Placement::opposite ? 2u : 4u); ++v) {
        const Shape shape{p, 4, v, false, placement};
        std::uint32_t found = 0;
        for (std::uint32_t stage = 0; stage < p; ++stage)
          for (std::uint32_t at = 0; at < v; ++at) {
            EXPECT_EQ(place(shape, held(shape, {stage, at})), (ChunkPlace{stage, at}));
            found += held(shape, {stage, at}).chunk < chunks(shape);
          }
        EXPECT_EQ(found, copies(shape) * chunks(shape));
      }
}

}  // namespace
}  // namespace stepcast::schedules
