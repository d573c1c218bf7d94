#include "app/sweep/grid.h"

#include <gtest/gtest.h>

#include "app/sweep/shard.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

SweepGrid grid_of(const std::vector<std::string>& axes, const std::vector<std::string>& zips = {}) {
  std::vector<SweepAxis> read;
  for (const std::string& axis : axes) read.push_back(read_axis(axis));
  return {std::move(read), zips};
}

std::string point_text(const SweepGrid& grid, std::size_t point) {
  std::string text;
  for (const language::Given& given : grid.keys(point)) text += given.text + " ";
  return text;
}

std::string grid_error(const std::vector<std::string>& axes, const std::vector<std::string>& zips = {}) {
  try {
    grid_of(axes, zips);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Grid, TheLastAxisChangesFromPointToPoint) {
  const SweepGrid grid = grid_of({"parallelism.tensor=1,2", "recompute=none,full", "parallelism.pipeline=4"});
  ASSERT_EQ(grid.points(), 4u);
  EXPECT_EQ(point_text(grid, 0), "1 none 4 ");
  EXPECT_EQ(point_text(grid, 1), "1 full 4 ");
  EXPECT_EQ(point_text(grid, 2), "2 none 4 ");
  EXPECT_EQ(point_text(grid, 3), "2 full 4 ");
}

TEST(Grid, ZippedAxesStepTogetherWhereTheFirstOfThemStands) {
  const SweepGrid grid = grid_of({"cluster.nodes=1,2", "recompute=none,full", "training.global_batch=64,128"},
                                 {"training.global_batch, cluster.nodes"});
  ASSERT_EQ(grid.points(), 4u);
  EXPECT_EQ(grid.dimensions().size(), 2u);
  EXPECT_EQ(point_text(grid, 1), "1 full 64 ");
  EXPECT_EQ(point_text(grid, 2), "2 none 128 ");
}

TEST(Grid, KeysSayWhatSetWould) {
  EXPECT_EQ(grid_of({"parallelism.tensor=1,2"}).keys(1).front().place.file, "--set parallelism.tensor=2");
}

TEST(Grid, WhatCannotBeMeantIsSaid) {
  EXPECT_EQ(grid_error({"recompute=none", "recompute=full"}),
            "--axis: found 'recompute' a second time, expected one axis of a key");
  EXPECT_EQ(grid_error({"recompute=none,full", "cluster.nodes=1:3"}, {"recompute,cluster.nodes"}),
            "--zip: found 2 values of recompute and 3 of cluster.nodes, expected as many of each");
  EXPECT_EQ(grid_error({"recompute=none,full", "cluster.nodes=1:2"}, {"recompute,cluster.node"}),
            "--zip: found 'recompute,cluster.node', of which 'cluster.node' is no axis, expected one of recompute, "
            "cluster.nodes; did you mean 'cluster.nodes'?");
  EXPECT_EQ(grid_error({"recompute=none"}, {"recompute"}),
            "--zip: found 'recompute', expected KEY,KEY of two axes or more");
  EXPECT_EQ(grid_error({"recompute=none"}, {"recompute,recompute"}),
            "--zip: found 'recompute' a second time, expected it once");
  EXPECT_EQ(grid_error({"training.global_batch=1:10000", "training.sequence=1:10000", "parallelism.tensor=1,2"}),
            "--axis: found more than 100 million points, expected fewer values");
}

TEST(Shard, EveryPointIsInOneOfThem) {
  for (std::size_t point = 0; point < 30; ++point) {
    int holders = 0;
    for (const char* word : {"1/4", "2/4", "3/4", "4/4"}) holders += read_shard(word).has(point) ? 1 : 0;
    EXPECT_EQ(holders, 1) << point;
  }
}

TEST(Shard, WhatIsNoneIsRefused) {
  for (const char* word : {"0/4", "5/4", "1", "1/", "/4", "1/4x", "-1/4", "1/100001", ""})
    EXPECT_THROW(read_shard(word), InputError) << word;
  EXPECT_EQ(text(read_shard("3/4")), "3/4");
}

}  // namespace
}  // namespace stepcast::app
