// Heads that do not begin at multiples of 16 bytes: which multiplies of unfused attention leave matrix units alone.

#include <gtest/gtest.h>

#include "models/layers/blocks.h"
#include "tests/models/layers/first_layer.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// A layer of 16 heads, `width` numbers of two bytes wide.
Block layer_of_heads(std::int64_t width, bool plain_cores, std::uint32_t compute_capability = 80) {
  Scenario s = round_numbers(1);
  s.model.family = Family::gpt;
  s.model.heads = s.model.kv_heads = 16;
  s.model.hidden = 16 * width;
  s.training.precision = Precision::fp16;
  s.training.attention = Attention::unfused;
  s.software.unaligned_heads_on_plain_cores = plain_cores;
  s.cluster.gpu.peak[Precision::fp32] = {1e13};
  s.cluster.gpu.compute_capability = compute_capability;
  return first_layer(s);
}

int on_plain_cores(const Kernels& pass) {
  int count = 0;
  for (const Kernel& kernel : pass)
    if (const auto* gemm = std::get_if<Gemm>(&kernel)) count += gemm->plain_cores;
  return count;
}

TEST(UnalignedHeads, AreMultipliedOnPlainCoresWhereTheSoftwareDoesSo) {
  const Block layer = layer_of_heads(150, true);
  EXPECT_EQ(on_plain_cores(layer.forward), 2);   // scores, values
  EXPECT_EQ(on_plain_cores(layer.backward), 4);  // two gradients of each
  for (const Kernels* pass : {&layer.forward, &layer.backward})
    for (const Kernel& kernel : *pass)
      if (const auto* gemm = std::get_if<Gemm>(&kernel)) {
        EXPECT_FALSE(gemm->linear && gemm->plain_cores);
      }
}

TEST(UnalignedHeads, AreOfNoOtherWidthAndNoOtherSoftware) {
  for (const auto& [width, plain] : {std::pair{152, true}, std::pair{128, true}, std::pair{150, false}}) {
    const Block layer = layer_of_heads(width, plain);
    EXPECT_EQ(on_plain_cores(layer.forward) + on_plain_cores(layer.backward), 0) << width;
  }
  EXPECT_EQ(on_plain_cores(layer_of_heads(108, true).forward), 2);  // 216 bytes
  EXPECT_EQ(on_plain_cores(layer_of_heads(150, true, 0).forward), 0) << "another maker's library";
}

}  // namespace
}  // namespace stepcast::schedules
