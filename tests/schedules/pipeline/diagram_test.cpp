#include "schedules/pipeline/diagram.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Equal to tests/golden/pipelines/NAME.txt byte for byte; STEPCAST_UPDATE_GOLDEN=1 writes the file instead.
void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(STEPCAST_SOURCE_DIR) / "tests/golden/pipelines" / (name + ".txt");
  if (const char* update = std::getenv("STEPCAST_UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no " << path << "; STEPCAST_UPDATE_GOLDEN=1 writes it";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "differs from " << path << "; STEPCAST_UPDATE_GOLDEN=1 rewrites it";
}

TEST(Diagram, EverySchedulesPictureIsTheGoldenOne) {
  for (const PipelineSchedule* schedule : pipelines()) {
    Shape shape = shape_of(*schedule, 4, 8, 2);
    if (!schedule->supports(shape).empty()) shape.virtual_stages = 1;
    const std::vector<StageOrder> all = orders(*schedule, shape);
    expect_golden(std::string(schedule->name),
                  draw(shape, all, {.forward = 1, .backward = schedule->splits_backward ? 1u : 2u}));
  }
}

TEST(Diagram, InterleavedGroupsThatDoNotDivideAreTheGoldenOnes) {
  const Shape shape{4, 9, 2};
  expect_golden("interleaved-1f1b-uneven",
                draw(shape, orders(*find_pipeline("interleaved-1f1b"), shape), {.forward = 1, .backward = 2}));
}

TEST(Diagram, DrawsOneColumnPerSlot) {
  const Shape shape{2, 2, 1};
  EXPECT_EQ(draw(shape, orders(*find_pipeline("1f1b"), shape), {.forward = 1, .backward = 2}),
            "2 stages, 2 micro-batches: 9 slots, bubble 33.3 %\n"
            "stage 0 | F0 F1 .  .  B0 -- .  B1 -- | 2 in flight\n"
            "stage 1 | .  F0 B0 -- F1 B1 -- .  .  | 1 in flight\n");
}

TEST(Diagram, RefusesMoreVirtualStagesThanLetters) {
  const Shape shape{1, 1, 27};
  EXPECT_THROW(draw(shape, orders(*find_pipeline("interleaved-1f1b"), shape), {}), std::logic_error);
}

}  // namespace
}  // namespace stepcast::schedules
