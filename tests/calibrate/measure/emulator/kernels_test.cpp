#include <gtest/gtest.h>

#include <ostream>

#include "calibrate/measure/checks/kernel_check.h"
#include "tests/sanitized.h"

namespace stepcast::measure {

void PrintTo(const KernelCheck& check, std::ostream* out) {
  *out << check.suite << " " << check.kernel << " " << check.dtype << " " << check.layout << " " << check.k;
}

namespace {

/// The checks that stepcast_measure runs on a GPU before it times a kernel, here with the kernels on the CPU.
class Kernels : public testing::TestWithParam<KernelCheck> {};

TEST_P(Kernels, AgreeWithTheirReference) {
  const KernelCheck& check = GetParam();
  if (test::kSanitized && check.kernel == "gradients" && check.layout != "selective")
    GTEST_SKIP() << "the same kernels as with selective recomputation";
  EXPECT_LE(check.error(nullptr), check.tolerance);
}

/// A race is what comes out differently when other threads go first.
class Races : public testing::TestWithParam<KernelCheck> {};

TEST_P(Races, AreNone) {
  emulator::run_backwards(true);
  const double error = GetParam().error(nullptr);
  emulator::run_backwards(false);
  EXPECT_LE(error, GetParam().tolerance);
}

std::string name_of(const testing::TestParamInfo<KernelCheck>& info) {
  const KernelCheck& c = info.param;
  std::string name = c.suite + "_" + c.kernel + "_" + c.dtype;
  if (c.layout != "-") name += "_" + c.layout + (c.k == 0 ? "" : std::to_string(c.k));
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(kernel_checks(90)), name_of);
INSTANTIATE_TEST_SUITE_P(Elementwise, Races, testing::ValuesIn(elementwise_checks(true)), name_of);
INSTANTIATE_TEST_SUITE_P(Attention, Races, testing::ValuesIn(attention_checks(true)), name_of);

}  // namespace
}  // namespace stepcast::measure
