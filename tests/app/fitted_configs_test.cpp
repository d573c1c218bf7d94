// Constants of configs/ that were fitted are what `stepcast fit` makes of the recordings that are committed: stacks
// byte for byte, multiplies digit for digit. The larger stacks take minutes each: with STEPCAST_ALL_FITS in the
// environment.

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

struct Stack {
  std::string name;
  bool minutes;
};
void PrintTo(const Stack& stack, std::ostream* out) { *out << stack.name; }

class FittedStack : public testing::TestWithParam<Stack> {};

TEST_P(FittedStack, IsWhatTheRecordedCurvesGive) {
  const std::string& name = GetParam().name;
  if (test::kSanitized) GTEST_SKIP() << "a fit's bytes, not memory: checked in release";
  if (GetParam().minutes && std::getenv("STEPCAST_ALL_FITS") == nullptr) GTEST_SKIP() << "STEPCAST_ALL_FITS is not set";
  const Outcome outcome = run_program("fit calibrate/data/nccl/curves.csv --software " + name);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_golden(STEPCAST_SOURCE_DIR "/configs/software/" + name + ".yaml", outcome.out);
}

INSTANTIATE_TEST_SUITE_P(All, FittedStack,
                         testing::Values(Stack{"nccl-a100", true}, Stack{"nccl-a100-abci", true},
                                         Stack{"nccl-b200", true}, Stack{"nccl-gb200", true}, Stack{"nccl-h100", true},
                                         Stack{"nccl-p100", true}, Stack{"nccl-pcie", false},
                                         Stack{"nccl-slingshot", true}, Stack{"nccl-tcp", true},
                                         Stack{"nccl-tcpx", false}, Stack{"nccl-v100", false},
                                         Stack{"nccl-v100-abci", true}),
                         [](const auto& stack) {
                           std::string name = stack.param.name.substr(5);  // after "nccl-"
                           std::erase(name, '-');
                           return name;
                         });

struct Multiplies {
  const char *table, *gpu;
  std::vector<const char*> fitted;  ///< the constants that the GPU's file takes from the fit
};

TEST(FittedGpu, HasTheConstantsThatItsMultipliesGive) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  for (const Multiplies& m :
       {Multiplies{"gemm_a100_pcie", "a100-pcie-40gb", {"mainloop", "sustained", "tile_128", "fill", "exposed_write"}},
        Multiplies{"gemm_h100", "h100-sxm5-80gb", {"mainloop", "tile_128", "tile_64", "fill", "exposed_write"}},
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
