#include "calibrate/measure/host/kernel_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace stepcast::measure {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::map<std::string, int> count(const std::vector<KernelCase>& plan, std::string KernelCase::*field) {
  std::map<std::string, int> counts;
  for (const KernelCase& one : plan) ++counts[one.*field];
  return counts;
}

TEST(KernelPlan, NoCaseTwice) {
  std::set<std::vector<std::string>> seen;
  for (const KernelCase& one : kernel_plan({140 * kGiB, 90, false})) EXPECT_TRUE(seen.insert(key_of(one)).second);
}

TEST(KernelPlan, AllSuitesDtypesAndLayouts) {
  const auto plan = kernel_plan({140 * kGiB, 90, false});
  const auto suites = count(plan, &KernelCase::suite);
  for (const char* suite : {"gemm", "batched_gemm", "attention", "elementwise", "stream", "launch"})
    EXPECT_GT(suites.count(suite), 0u) << suite;
  EXPECT_GE(suites.at("gemm"), 1000);
  std::map<std::string, std::set<std::string>> layouts;
  for (const KernelCase& one : plan) {
    if (one.suite == "gemm") layouts[one.dtype].insert(one.layout);
  }
  const std::set<std::string> all{"TN", "NN", "NT"};
  for (const char* dtype : {"fp32", "tf32", "fp16", "bf16"}) EXPECT_EQ(layouts[dtype], all) << dtype;
  EXPECT_EQ(layouts["fp8"], std::set<std::string>{"TN"});  // what the hardware takes
}

TEST(KernelPlan, QuickIsAPrefixOfTheWhole) {
  const auto quick = kernel_plan({140 * kGiB, 90, true}), whole = kernel_plan({140 * kGiB, 90, false});
  ASSERT_LT(quick.size(), whole.size() / 3);
  ASSERT_GT(quick.size(), 100u);
  for (std::size_t i = 0; i < quick.size(); ++i) EXPECT_EQ(key_of(quick[i]), key_of(whole[i]));
}

TEST(KernelPlan, MoreValuableCasesComeFirst) {
  const auto plan = kernel_plan({140 * kGiB, 90, false});
  EXPECT_TRUE(std::is_sorted(plan.begin(), plan.end(),
                             [](const KernelCase& a, const KernelCase& b) { return a.rank < b.rank; }));
  EXPECT_EQ(plan.front().suite, "launch");
}

TEST(KernelPlan, OnlyWhatTheChipHas) {
  const auto volta = count(kernel_plan({16 * kGiB, 70, false}), &KernelCase::dtype);
  EXPECT_EQ(volta.count("bf16") + volta.count("tf32") + volta.count("fp8"), 0u);
  EXPECT_GT(volta.at("fp16"), 0);
  EXPECT_EQ(count(kernel_plan({40 * kGiB, 80, false}), &KernelCase::dtype).count("fp8"), 0u);
}

TEST(KernelPlan, NothingLargerThanMemory) {
  for (const KernelCase& one : kernel_plan({8 * kGiB, 90, false})) EXPECT_LE(one.bytes, 2 * kGiB);
}

TEST(KernelCase, BytesAndFlopsAreTheClosedForms) {
  const KernelCase gemm = gemm_case("bf16", "TN", 1, 4096, 2048, 1024, 0);
  EXPECT_DOUBLE_EQ(gemm.flops, 2.0 * 4096 * 2048 * 1024);
  EXPECT_EQ(gemm.bytes, 2 * (4096 * 1024 + 1024 * 2048 + 4096 * 2048));
  EXPECT_EQ(gemm_case("fp8", "TN", 1, 64, 64, 64, 0).bytes, 64 * 64 * (1 + 1 + 2));
  EXPECT_EQ(elementwise_bytes("gelu", "bf16", 10, 20), 10 * 20 * 4);
  EXPECT_EQ(elementwise_bytes("adam", "bf16", 100, 1), 100 * 30);  // 4 gradient, 24 state, 2 weight
  EXPECT_EQ(elementwise_bytes("adam", "fp32", 100, 1), 100 * 28);
  EXPECT_THROW(elementwise_bytes("no_such", "bf16", 1, 1), std::logic_error);
}

TEST(KernelCase, CausalAttentionDoesHalfAndHalfADiagonal) {
  // Row i of n sees i keys: n (n + 1) / 2 of n^2 pairs.
  EXPECT_DOUBLE_EQ(attention_flops(false, true, 1, 4, 4, 8), 4.0 * 10 * 8);
  EXPECT_DOUBLE_EQ(attention_flops(false, false, 2, 4, 4, 8), 4.0 * 2 * 16 * 8);
  EXPECT_DOUBLE_EQ(attention_flops(true, false, 2, 4, 4, 8), 2.5 * attention_flops(false, false, 2, 4, 4, 8));
}

TEST(DoublingSizes, FromLeastToMost) {
  EXPECT_EQ(doubling_sizes(8, 64), (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ(doubling_sizes(8, 300, 2), (std::vector<std::int64_t>{8, 32, 128}));
}

}  // namespace
}  // namespace stepcast::measure
