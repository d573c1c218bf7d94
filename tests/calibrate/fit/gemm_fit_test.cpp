#include "calibrate/fit/gemm_fit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using schedules::GemmMachine;
using schedules::GemmModel;

constexpr GemmMachine kA100Pcie{108, {312e12}, {1555e9}, 0.87};
const std::string kTable = STEPCAST_SOURCE_DIR "/calibrate/data/gemm_a100_pcie.csv";

TEST(GemmFit, OnTheA100TableHoldsOnTheShapesItDidNotSee) {
  const GemmFit fit = fit_gemm(read_gemm_samples(kTable), kA100Pcie, microseconds(3));
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
                                 t.machine, microseconds(3));
    EXPECT_LT(fit.held_out_mape, t.held_out_mape) << t.file;
  }
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
    const GemmFit fit = fit_gemm(samples, kA100Pcie, microseconds(3));
    EXPECT_NEAR(fit.model.sustained, planted.sustained, 0.01) << "seed " << seed;
    EXPECT_NEAR(fit.model.mainloop, planted.mainloop, 0.04) << "seed " << seed;
    EXPECT_LT(fit.held_out_mape, 0.02) << "seed " << seed;
  }
}

TEST(GemmFit, RefusesTooFewShapes) {
  const std::vector<GemmSample> few(100, GemmSample{{1024, 1024, 1024}, 0.5});
  EXPECT_THROW(fit_gemm(few, kA100Pcie, {}), InputError);
}

TEST(GemmSamples, ErrorsNameTheLine) {
  const std::string path = testing::TempDir() + "bad.csv";
  std::ofstream(path) << "# comment\nm,n,k,layout,output_bytes,efficiency\n1,2,3,TN,2,0.5\n1,2,x,TN,2,0.5\n";
  try {
    read_gemm_samples(path);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.what(), path + ":4: column 3: found 'x', expected a positive number");
  }
}

}  // namespace
}  // namespace stepcast::calibrate
