// Constants of configs/ that were fitted are what `stepcast fit` makes of the recordings that are committed: stacks,
// the links' blocks and the errors of machines left out byte for byte, multiplies digit for digit. The recordings of
// collectives take ten minutes: with STEPCAST_ALL_FITS in the environment.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

TEST(FittedCollectives, AreWhatTheRecordedCurvesGive) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's bytes, not memory: checked in release";
  if (std::getenv("STEPCAST_ALL_FITS") == nullptr) GTEST_SKIP() << "STEPCAST_ALL_FITS is not set";
  const std::filesystem::path folder = testing::TempDir() + "stepcast-fit-" + std::to_string(getpid());
  const Outcome outcome = run_program("fit calibrate/data/nccl/curves.csv --output " + folder.string());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const auto& file : std::filesystem::directory_iterator(folder / "software"))
    expect_golden(STEPCAST_SOURCE_DIR "/configs/software/" + file.path().filename().string(), read_text(file.path()));
  for (const auto& file : std::filesystem::directory_iterator(folder / "links")) {
    const std::string link = read_text(STEPCAST_SOURCE_DIR "/configs/links/" + file.path().filename().string());
    EXPECT_TRUE(link.ends_with(read_text(file.path()))) << file.path();
  }
  expect_golden(STEPCAST_SOURCE_DIR "/docs/nccl-machines.txt", read_text(folder / "machines.txt"));
  std::filesystem::remove_all(folder);
}

struct Multiplies {
  const char *table, *gpu;
  std::vector<const char*> fitted;  ///< the constants that the GPU's file takes from the fit
};

TEST(FittedGpu, HasTheConstantsThatItsMultipliesGive) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  for (const Multiplies& m :
       {Multiplies{"gemm_a100_pcie", "a100-pcie-40gb", {"mainloop", "sustained", "tile_128", "fill", "exposed_write"}},
        Multiplies{"gemm_h100", "h100-sxm5-80gb", {"mainloop", "tile_128", "tile_64", "fill", "exposed_write"}},
        Multiplies{"gemm_mi250x", "mi250x-gcd", {"mainloop", "sustained", "exposed_write", "aligned_4"}},
        Multiplies{"gemm_b200", "b200", {"mainloop", "sustained", "tile_128", "fill", "exposed_write"}}}) {
    const Outcome outcome = run_program("fit calibrate/data/" + std::string(m.table) + ".csv --gpu " + m.gpu);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string file = read_text(STEPCAST_SOURCE_DIR "/configs/gpus/" + std::string(m.gpu) + ".yaml");
    for (const char* constant : m.fitted) {
      const std::size_t begin = outcome.out.find("  " + std::string(constant) + ": ");
      ASSERT_NE(begin, std::string::npos) << outcome.out;
      const std::string line = outcome.out.substr(begin, outcome.out.find('\n', begin) - begin);
      EXPECT_NE(file.find("\n" + line), std::string::npos) << m.gpu << ": '" << line << "'";
    }
  }
}

}  // namespace
}  // namespace stepcast::app
