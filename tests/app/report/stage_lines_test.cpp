#include "app/report/stage_lines.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepcast::app {
namespace {

/// Stages of one figure each, printed with one digit.
std::vector<StageCells> stages(const std::vector<double>& figures) {
  std::vector<StageCells> out;
  for (const double figure : figures) out.push_back({{figure}, {std::to_string(std::lround(10 * figure))}});
  return out;
}

/// "0 1-3~ 4": each line's stages.
std::string lines(const std::vector<double>& figures, std::size_t most) {
  std::string out;
  for (const StageLine& line : stage_lines(stages(figures), most)) {
    out += (out.empty() ? "" : " ") + std::to_string(line.first);
    if (line.last > line.first) out += "-" + std::to_string(line.last);
    if (line.differ) out += "~";
  }
  return out;
}

TEST(StageLines, NeighboursThatReadTheSameShareOne) {
  EXPECT_EQ(lines({1, 2, 2.001, 2, 3}, 5), "0 1-3 4");
  EXPECT_EQ(lines({1}, 1), "0");
}

TEST(StageLines, AreOneForEachStageWhereTheyDifferAndThereIsRoom) { EXPECT_EQ(lines({1, 2, 3, 4}, 4), "0 1 2 3"); }

TEST(StageLines, JoinTheLikestNeighboursWhereThereIsNot) {
  EXPECT_EQ(lines({9, 1, 1.1, 1.2, 1.3, 20}, 3), "0 1-4~ 5");
  EXPECT_EQ(lines({1, 2, 4, 7}, 1), "0-3~");
}

TEST(StageLines, HoldEveryStageOnce) {
  std::vector<double> figures;
  for (int i = 0; i < 500; ++i) figures.push_back(std::fmod(i * 0.618, 1));
  for (const std::size_t most : {1u, 2u, 16u, 499u, 500u}) {
    std::size_t next = 0;
    const std::vector<StageLine> all = stage_lines(stages(figures), most);
    EXPECT_LE(all.size(), most);
    for (const StageLine& line : all) {
      EXPECT_EQ(line.first, next);
      next = line.last + 1;
    }
    EXPECT_EQ(next, figures.size());
  }
}

}  // namespace
}  // namespace stepcast::app
