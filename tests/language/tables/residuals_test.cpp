#include "language/tables/residuals.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

std::vector<calibrate::Residual> read(const std::string& text) {
  const std::string file = testing::TempDir() + "residuals.csv";
  std::ofstream(file) << text;
  return read_residuals(file);
}

TEST(Residuals, ARowHasTraitsAndAnError) {
  const auto rows = read(
      "table,name,gpu,software,family,kinds,sizes,error\nt,r,g,s,gpt,16-bit;ZeRO 1,GPUs=8;tokens a "
      "sample=2048,-0.05\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].traits.kinds, (std::vector<std::string>{"16-bit", "ZeRO 1"}));
  EXPECT_EQ(rows[0].traits.sizes, (std::map<std::string, double>{{"GPUs", 8}, {"tokens a sample", 2048}}));
  EXPECT_EQ(rows[0].error, -0.05);
}

TEST(Residuals, ConfigsNeedNotHaveThem) { EXPECT_TRUE(read_residuals(testing::TempDir() + "no-such.csv").empty()); }

TEST(Residuals, WhatIsNoSuchTableIsTold) {
  for (const char* row : {"t,r,g", "t,r,g,s,gpt,16-bit,GPUs,0", "t,r,g,s,gpt,16-bit,GPUs=8,little"})
    EXPECT_THROW(read(std::string("table,name,gpu,software,family,kinds,sizes,error\n") + row + "\n"), InputError)
        << row;
}

}  // namespace
}  // namespace stepcast::language
