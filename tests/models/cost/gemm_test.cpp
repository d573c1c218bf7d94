#include "models/cost/gemm.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

constexpr GemmMachine kMachine{100, {100e12}, {1e18}, 1.0};  // memory too fast to matter
constexpr GemmModel kIdeal{
    .mainloop = 1, .sustained = 1, .tile_128 = 1e-9, .tile_64 = 1e-9, .fill = 0, .exposed_write = 0};

TEST(GemmTime, IsTheRooflineWhereTilesFillTheWavesExactly) {
  // 10 x 10 tiles of 256x128 on 100 SMs: one full wave.
  const GemmShape shape{.m = 2560, .n = 1280, .k = 4096};
  EXPECT_EQ(gemm_time(shape, kIdeal, kMachine), from_seconds(shape.flops().value / 100e12));
}

TEST(GemmTime, OneTileMoreThanAWaveCostsAWaveMore) {
  const GemmShape one{.m = 256, .n = 128, .k = 4096, .batch = 100}, two{.m = 256, .n = 128, .k = 4096, .batch = 101};
  const GemmModel unsplit = [] {
    GemmModel m = kIdeal;
    m.exposed_write = 1e12;  // partial sums too dear to split k
    return m;
  }();
  const GemmShape free_one{one.m, one.n, one.k, one.batch, 2, 0}, free_two{two.m, two.n, two.k, two.batch, 2, 0};
  EXPECT_EQ(gemm_time(free_two, unsplit, kMachine), gemm_time(free_one, unsplit, kMachine) * 2);
}

TEST(GemmTime, APartlyFilledTileCostsAWholeOne) {
  const GemmShape full{.m = 2560, .n = 1280, .k = 4096}, less{.m = 2560 - 255, .n = 1280, .k = 4096};
  EXPECT_EQ(gemm_time(full, kIdeal, kMachine), gemm_time(less, kIdeal, kMachine));
}

TEST(GemmTime, IsBoundByMemoryWhereThereIsLittleToMultiply) {
  const GemmMachine slow{100, {100e12}, {1e12}, 0.5};
  const GemmShape thin{.m = 1, .n = 25600, .k = 25600};
  const double read = (25600.0 + 25600.0 * 25600.0) * 2;
  EXPECT_EQ(gemm_time(thin, kIdeal, slow), from_seconds(read / 0.5e12));
}

TEST(RowAlignment, IsOfTheRowsAsTheyLieInMemory) {
  EXPECT_EQ(row_alignment({.m = 3, .n = 64, .k = 8}), 16);  // rows of k and of n: m is none
  EXPECT_EQ(row_alignment({.m = 64, .n = 64, .k = 12}), 8);
  EXPECT_EQ(row_alignment({.m = 64, .n = 66, .k = 64}), 4);
  EXPECT_EQ(row_alignment({.m = 64, .n = 64, .k = 65}), 2);
  EXPECT_EQ(row_alignment({.m = 64, .n = 65, .k = 64, .input_bytes = 4}), 4);
  EXPECT_EQ(row_alignment({.m = 65, .n = 64, .k = 7, .by_columns = true}), 2);  // a gradient of weights: of m and of n
  EXPECT_EQ(row_alignment({.m = 64, .n = 64, .k = 7, .by_columns = true}), 16);
  EXPECT_EQ(row_alignment({.m = 64, .n = 8, .k = 32, .input_bytes = 0.5625}), 8);
}

TEST(GemmTime, OfUnalignedRowsIsLongerByTheirShareAndBoundByMemoryAlike) {
  GemmModel model = kIdeal;
  model.aligned_4 = 0.5;
  model.aligned_2 = 0.25;
  const auto time = [&](std::int64_t k, const GemmMachine& machine) {
    return to_seconds(gemm_time({.m = 2560, .n = 1280, .k = k}, model, machine)) / static_cast<double>(k);
  };
  EXPECT_NEAR(time(4098, kMachine) / time(4096, kMachine), 2, 1e-6);
  EXPECT_NEAR(time(4097, kMachine) / time(4096, kMachine), 4, 1e-6);
  const GemmMachine starved{100, {100e12}, {1e9}, 1};
  EXPECT_NEAR(time(4097, starved) / time(4096, starved), 1, 1e-6);
  EXPECT_EQ(convolution_time({.m = 2560, .n = 1280, .k = 147}, 1, JoinedGroups::by_input, model, kMachine),
            convolution_time({.m = 2560, .n = 1280, .k = 147}, 1, JoinedGroups::by_input, kIdeal, kMachine));
}

/// 32 groups of 4 channels in and out, 3 x 3 taps, in tiles of 256 x 128 alone, on one SM.
TEST(ConvolutionTime, JoinsNarrowGroupsIntoOneTile) {
  const GemmMachine one{1, {1e12}, {1e18}, 1.0};
  const auto tiles = [](double count, double k) { return from_seconds(count * 2 * 256 * 128 * k / 1e12); };
  const GemmShape forward{.m = 256, .n = 4, .k = 36, .batch = 32}, of_weights{.m = 4, .n = 36, .k = 4096, .batch = 32};
  // Joined or not, each pads its 4 columns to 128: zeros between the groups take what the tile's rest took.
  EXPECT_EQ(convolution_time(forward, 1, JoinedGroups::by_input, kIdeal, one), tiles(32, 36));
  // All 32 groups side by side: 128 rows, and 1152 columns in 5 tiles 256 wide.
  EXPECT_EQ(convolution_time(of_weights, 1, JoinedGroups::by_output, kIdeal, one), tiles(5, 4096));
  GemmModel filled = kIdeal;
  filled.fill = 100;
  EXPECT_EQ(convolution_time(forward, 1, JoinedGroups::by_input, filled, one), tiles(1, 32 * 36 + 100));
}

TEST(ConvolutionTime, OfGroupsAsWideAsATileIsThatOfEachAlone) {
  const GemmShape wide{.m = 256, .n = 128, .k = 1152, .batch = 32};
  const GemmMachine one{1, {100e12}, {1e18}, 1.0};
  EXPECT_EQ(convolution_time(wide, 1, JoinedGroups::by_input, kIdeal, one), gemm_time(wide, kIdeal, one));
  EXPECT_EQ(convolution_time(wide, 1, JoinedGroups::by_output, kIdeal, one), gemm_time(wide, kIdeal, one));
}

TEST(ConvolutionTime, OfMoreGroupsIsNeverLonger) {
  const GemmModel model;
  const GemmMachine machine{108, {312e12}, {2e12}, 0.9};
  const auto time = [&](JoinedGroups groups, std::int64_t pixels, std::int64_t width, std::int64_t count) {
    const GemmShape shape = groups == JoinedGroups::by_input ? GemmShape{pixels, width, width * 9, count}
                                                             : GemmShape{width, width * 9, pixels, count};
    const double read = static_cast<double>(pixels * width * count * 2);
    return convolution_time(shape, read, groups, model, machine);
  };
  for (const JoinedGroups groups : {JoinedGroups::by_input, JoinedGroups::by_output})
    for (const std::int64_t channels : {96, 128, 512, 1024})
      for (std::int64_t pixels = 1024; pixels < 1'000'000; pixels *= 5)
        for (std::int64_t count = 2; channels % count == 0; count *= 2) {
          const std::int64_t width = channels / count;
          const Time here = time(groups, pixels, width, count);
          EXPECT_LE(here, time(groups, pixels, width * 2, count / 2)) << channels << ' ' << pixels << ' ' << count;
          if (groups == JoinedGroups::by_input) {  // the same multiplies, in fewer groups of as many channels
            EXPECT_LE(here, time(groups, pixels * 2, width, count / 2)) << channels << ' ' << pixels << ' ' << count;
          }
        }
}

TEST(GemmTime, GrowsWithEverySide) {
  const GemmModel model;
  const GemmMachine machine{108, {312e12}, {2e12}, 0.9};
  for (std::int64_t m = 64; m < 5000; m = m * 5 / 3)
    for (std::int64_t n = 64; n < 5000; n = n * 5 / 3)
      for (std::int64_t k = 64; k < 5000; k = k * 5 / 3) {
        const Time base = gemm_time({m, n, k}, model, machine);
        EXPECT_LE(base, gemm_time({m + 64, n, k}, model, machine)) << m << ' ' << n << ' ' << k;
        EXPECT_LE(base, gemm_time({m, n + 64, k}, model, machine)) << m << ' ' << n << ' ' << k;
        EXPECT_LE(base, gemm_time({m, n, k + 64}, model, machine)) << m << ' ' << n << ' ' << k;
      }
}

TEST(GemmTime, IsNeverFasterThanPeak) {
  const GemmModel model;
  const GemmMachine machine{108, {312e12}, {2e12}, 0.9};
  for (std::int64_t side = 16; side < 20000; side = side * 7 / 5) {
    const GemmShape shape{side, side, side};
    EXPECT_GE(to_seconds(gemm_time(shape, model, machine)), shape.flops().value / 312e12) << side;
  }
}

}  // namespace
}  // namespace stepcast::schedules
