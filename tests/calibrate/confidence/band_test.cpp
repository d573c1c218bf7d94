#include "calibrate/confidence/band.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stepcast::calibrate {
namespace {

/// Rows of one stack: measured / predicted is each of `ratios`.
std::vector<Residual> rows_of(const std::string& table, const Traits& traits, const std::vector<double>& ratios) {
  std::vector<Residual> out;
  for (std::size_t i = 0; i < ratios.size(); ++i)
    out.push_back({table, table + std::to_string(i), traits, 1 / ratios[i] - 1});
  return out;
}

std::optional<Band> band_of(const std::vector<Residual>& rows, const Traits& plan) {
  return band(without(rows, "none of these", ""), plan, from_seconds(10));
}

const Traits kOnA{"gpu-a", "stack", "gpt", {"16-bit"}, {{"GPUs", 8}}};
const Traits kOnB{"gpu-b", "stack", "gpt", {"16-bit"}, {{"GPUs", 8}}};

TEST(Band, NineRowsSpanItAndNineteenLeaveOneOutOnEachSide) {
  const std::vector<double> nine{0.9, 0.95, 0.97, 1, 1.01, 1.02, 1.05, 1.1, 1.2};
  const auto of_nine = band_of(rows_of("t", kOnA, nine), kOnA);
  ASSERT_TRUE(of_nine);
  EXPECT_NEAR(to_seconds(of_nine->low), 9, 1e-9);
  EXPECT_NEAR(to_seconds(of_nine->high), 12, 1e-9);
  EXPECT_TRUE(of_nine->in_range);
  EXPECT_EQ(of_nine->rows, 9u);
  EXPECT_EQ(of_nine->like, "of gpt with stack on gpu-a");

  std::vector<double> nineteen{0.5, 2};
  for (int i = 0; i < 17; ++i) nineteen.push_back(0.92 + 0.01 * i);
  const auto of_nineteen = band_of(rows_of("t", kOnA, nineteen), kOnA);
  EXPECT_NEAR(to_seconds(of_nineteen->low), 9.2, 1e-9);
  EXPECT_NEAR(to_seconds(of_nineteen->high), 10.8, 1e-9);
}

TEST(Band, HoldsAtLeastItsShareOfTheNextRowsWhateverTheirDistribution) {
  std::mt19937_64 random(20260726);
  std::lognormal_distribution<double> skewed(0.05, 0.2);
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> ratios(29);
    for (double& ratio : ratios) ratio = skewed(random);
    const auto found = band_of(rows_of("t", kOnA, ratios), kOnA);
    const double next = 10 * skewed(random);
    held += to_seconds(found->low) <= next && next <= to_seconds(found->high);
  }
  // 30 places for the next row, 24 of them in the band; three standard deviations of the count.
  EXPECT_NEAR(held, kCoverage * kTrials, 3 * std::sqrt(kTrials * kCoverage * (1 - kCoverage)));
}

TEST(Band, ReachesToItsForecastWhereAllRowsErrToOneSide) {
  const auto found = band_of(rows_of("t", kOnA, std::vector<double>(12, 1.1)), kOnA);
  EXPECT_EQ(found->low, from_seconds(10));
  EXPECT_NEAR(to_seconds(found->high), 11, 1e-9);
}

TEST(Band, TablesCountAlikeHoweverManyRowsTheyHave) {
  // Of the six tables on the GPU one, of two rows, has measured twice the prediction: a sixth, more than a tenth.
  std::vector<Residual> rows;
  for (int table = 0; table < 5; ++table) {
    Traits other = kOnA;
    other.software = "stack-" + std::to_string(table);
    for (const Residual& row : rows_of("t" + std::to_string(table), other, std::vector<double>(100, 1)))
      rows.push_back(row);
  }
  Traits other = kOnA;
  other.software = "stack-5";
  for (const Residual& row : rows_of("twice", other, {2, 2})) rows.push_back(row);
  EXPECT_NEAR(to_seconds(band_of(rows, kOnA)->high), 20, 1e-9);
}

TEST(Band, OutOfRangeItIsNoNarrowerThanAllTablesAre) {
  std::vector<Residual> rows = rows_of("t", kOnA, std::vector<double>(20, 1.01));
  for (const Residual& row : rows_of("wide", kOnB, {0.5, 0.6, 1.5, 1.6})) rows.push_back(row);
  const auto inside = band_of(rows, kOnA);
  Traits larger = kOnA;
  larger.sizes["GPUs"] = 64;
  const auto outside = band_of(rows, larger);
  EXPECT_TRUE(inside->in_range);
  EXPECT_FALSE(outside->in_range);
  EXPECT_LT(outside->low, inside->low);
  EXPECT_GT(outside->high, inside->high);
  EXPECT_EQ(outside->like, "of all tables");
}

TEST(Band, NeedsRows) { EXPECT_FALSE(band_of({}, kOnA)); }

TEST(Range, NamesWhatNoMeasuredRowHas) {
  const auto reasons = [](const Traits& plan) {
    static const std::vector<Residual> rows = [] {
      std::vector<Residual> all = rows_of("t", kOnA, {1, 1});
      all.back().traits.sizes["GPUs"] = 32;
      return all;
    }();
    return out_of_range(without(rows, "none of these", ""), plan);
  };
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(reasons(kOnA), Reasons{});
  EXPECT_EQ(reasons(kOnB), Reasons{"no measured row with GPU gpu-b"});
  EXPECT_EQ(reasons({"gpu-a", "other", "gpt", {"16-bit"}, {{"GPUs", 16}}}),
            Reasons{"no measured row with software other"});
  EXPECT_EQ(reasons({"gpu-a", "stack", "llama", {"16-bit", "ZeRO 3"}, {{"GPUs", 8}}}),
            (Reasons{"no such row with model family llama", "no such row with ZeRO 3"}));
  EXPECT_EQ(reasons({"gpu-a", "stack", "gpt", {"16-bit"}, {{"GPUs", 6144}}}),
            Reasons{"GPUs 6144: measured rows have 8 to 32"});
  EXPECT_EQ(reasons({"gpu-a", "stack", "gpt", {"16-bit"}, {{"GPUs", 2.5}}}),
            Reasons{"GPUs 2.5: measured rows have 8 to 32"});
}

TEST(Without, LeavesOutOneRowOrOneTable) {
  std::vector<Residual> rows = rows_of("t", kOnA, {1, 1, 1});
  for (const Residual& row : rows_of("u", kOnA, {1, 1})) rows.push_back(row);
  EXPECT_EQ(without(rows, "t", "t1").size(), 4u);
  EXPECT_EQ(without(rows, "t", "").size(), 2u);
  EXPECT_EQ(without(rows, "t", "u1").size(), 5u);
}

}  // namespace
}  // namespace stepcast::calibrate
