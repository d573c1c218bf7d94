#include "calibrate/fit/gemm_fit.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using schedules::GemmMachine;
using schedules::GemmModel;

constexpr GemmMachine kA100Pcie{108, {312e12}, {1555e9}, 0.87};
const std::string kTable = STEPCAST_SOURCE_DIR "/calibrate/data/gemm_a100_pcie.csv";

TEST(GemmFit, OnTheA100TableHoldsOnTheShapesItDidNotSee) {
  const GemmFit fit = fit_gemm(read_gemm_samples(kTable), kA100Pcie, microseconds(3), kTable);
  EXPECT_GT(fit.fitted, 80u);
  EXPECT_GT(fit.held_out, 80u);
  EXPECT_LT(fit.fitted_mape, 0.04);
  EXPECT_LT(fit.held_out_mape, 0.04);
  EXPECT_LT(fit.held_out_median, 0.025);
}

TEST(GemmFit, HoldsOnOtherGpusToo) {
  struct Table {
    const char* file;
    GemmMachine machine;
    double held_out_mape;
  };
  for (const Table& t : {Table{"gemm_h100.csv", {132, {989.4e12}, {3350e9}, 0.9}, 0.07},
                         Table{"gemm_b200.csv", {148, {2250e12}, {7700e9}, 0.9}, 0.11}}) {
    const GemmFit fit = fit_gemm(read_gemm_samples(STEPCAST_SOURCE_DIR "/calibrate/data/" + std::string(t.file)),
                                 t.machine, microseconds(3), t.file);
    EXPECT_LT(fit.held_out_mape, t.held_out_mape) << t.file;
  }
}

TEST(GemmFit, TellsAlignmentWhereATableHasUnalignedShapesAndNowhereElse) {
  constexpr GemmMachine kA100{108, {312e12}, {1555e9}, 0.87};
  const std::string path = STEPCAST_SOURCE_DIR "/calibrate/data/gemm_a100_sxm4.csv";
  const GemmFit fit = fit_gemm(read_gemm_samples(path), kA100, microseconds(3), path);
  EXPECT_LT(fit.held_out_mape, 0.06);
  EXPECT_NEAR(fit.model.aligned_4, 0.63, 0.03);
  EXPECT_NEAR(fit.model.aligned_2, 0.29, 0.02);
  const GemmFit aligned = fit_gemm(read_gemm_samples(kTable), kA100Pcie, microseconds(3), kTable);
  EXPECT_EQ(aligned.model.aligned_4, GemmModel{}.aligned_4);
  EXPECT_EQ(aligned.model.aligned_2, GemmModel{}.aligned_2);
}

TEST(GemmFit, RecoversPlantedConstantsFromNoisyTimes) {
  const GemmModel planted{
      .mainloop = 0.88, .sustained = 0.80, .tile_128 = 0.8, .tile_64 = 0.5, .fill = 60, .exposed_write = 0.5};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.01);
    std::vector<GemmSample> samples = read_gemm_samples(kTable);
    for (GemmSample& s : samples) {
      s.efficiency = 1;
      s.efficiency = 1 / (gemm_time_ratio(s, planted, kA100Pcie, microseconds(3)) * std::exp(noise(random)));
    }
    const GemmFit fit = fit_gemm(samples, kA100Pcie, microseconds(3), kTable);
    EXPECT_NEAR(fit.model.sustained, planted.sustained, 0.01) << "seed " << seed;
    EXPECT_NEAR(fit.model.mainloop, planted.mainloop, 0.04) << "seed " << seed;
    EXPECT_LT(fit.held_out_mape, 0.02) << "seed " << seed;
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

TEST(GemmFit, RefusesTooFewShapesOfATableThatItNames) {
  const std::vector<GemmSample> few(100, GemmSample{{1024, 1024, 1024}, 0.5});
  EXPECT_EQ(error_of([&] { fit_gemm(few, kA100Pcie, {}, "few.csv"); }),
            "few.csv: found 1 distinct shapes, expected at least 20 to fit 8 constants");
}

TEST(GemmSamples, ErrorsNameTheLine) {
  const auto error = [](const std::string& row) {
    return error_of([&] {
      parse_gemm_samples("# comment\nm,n,k,layout,output_bytes,efficiency\n1,2,3,TN,2,0.5\n" + row + "\n", "bad.csv");
    });
  };
  EXPECT_EQ(error("1,2,x,TN,2,0.5"), "bad.csv:4: column 3: found 'x', expected a whole number of at least 1");
  EXPECT_EQ(error("0.5,2,3,TN,2,0.5"), "bad.csv:4: column 1: found '0.5', expected a whole number of at least 1");
  EXPECT_EQ(error("1,2,3,TT,2,0.5"), "bad.csv:4: column 4: found 'TT', expected TN, NN or NT");
  EXPECT_EQ(error("1,2,3,TN,2,-1"), "bad.csv:4: column 6: found '-1', expected a positive number");
}

TEST(GemmSamples, MayBeAHairFasterThanTheDataSheetAndNoMore) {
  const auto error = [](const std::string& efficiency) {
    return error_of([&] {
      parse_gemm_samples("m,n,k,layout,output_bytes,efficiency\n1,2,3,TN,2," + efficiency + "\n", "fast.csv");
    });
  };
  EXPECT_EQ(error("1.05"), "none");
  EXPECT_EQ(
      error("1.2"),
      "fast.csv:2: column 6: found an efficiency of '1.2', faster than the GPU's peak, expected at most 1.1 of it "
      "(a boost clock's share)");
}

TEST(GemmSamples, OfAMissingFileAreAnError) {
  EXPECT_EQ(error_of([] { read_gemm_samples("none.csv"); }), "none.csv: no such file");
}

}  // namespace
}  // namespace stepcast::calibrate
