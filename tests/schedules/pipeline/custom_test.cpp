#include "schedules/pipeline/custom.h"

#include <gtest/gtest.h>

#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

std::string word(const Pass& pass) {
  std::string text = pass.kind == PassKind::forward  ? "F"
                     : pass.kind == PassKind::weight ? "W"
                                                     : (pass.kind == PassKind::backward ? "B" : "BW");
  text += std::to_string(index(pass.micro_batch)) + static_cast<char>('a' + static_cast<int>(pass.virtual_stage));
  return text + (pass.with_next ? "&" : " ");
}

// Every built-in order, written out and read again.
TEST(CustomOrders, ReadsBackEverySchedule) {
  for (const PipelineSchedule* schedule : pipelines()) {
    Shape shape = shape_of(*schedule, 4, 8, schedule->name == "combined-1f1b" ? 2 : 1);
    ASSERT_EQ(schedule->supports(shape), "") << schedule->name;
    const std::vector<StageOrder> all = orders(*schedule, shape);
    std::vector<std::string> lines;
    for (const StageOrder& order : all) {
      std::string& line = lines.emplace_back();
      for (const Pass& pass : order) line += word(pass);
    }
    const CustomOrders read = read_orders(lines);
    EXPECT_EQ(read.problem, "") << schedule->name;
    EXPECT_EQ(read.stages, all) << schedule->name;
    EXPECT_EQ(read.splits_backward, schedule->splits_backward) << schedule->name;
  }
}

TEST(CustomOrders, NamesTheWordThatIsNoPass) {
  const auto problem = [](std::string line) {
    return read_orders(std::vector<std::string>{"F0 B0", std::move(line)}).problem;
  };
  for (const char* word : {"G3", "F", "F-1", "F0ab", "f0", "W1A", "F99999999999"})
    EXPECT_EQ(problem("F0 " + std::string(word) + " B0"),
              "stage 1: found '" + std::string(word) +
                  "', expected F, B, W or BW, a micro-batch and, of several virtual stages, a letter: F0, B3, W2b");
  EXPECT_NE(problem("F0 &B1"), "");
  EXPECT_EQ(problem("  F0\tF1&B0\n B1 "), "");
}

}  // namespace
}  // namespace stepcast::schedules
