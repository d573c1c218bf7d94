#include "models/layers/latent_attention.h"

#include <gtest/gtest.h>

#include "models/layers/transformer_layer.h"
#include "tests/models/models.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario v3(std::uint32_t tensor) {
  Scenario s = round_numbers(8);
  s.model = deepseek_v3();
  s.training.sequence = 4096;
  s.training.attention = Attention::flash;
  s.parallelism = {.tensor = tensor, .pipeline = 1, .data = 8 / tensor, .sequence = tensor > 1, .expert = 8};
  return s;
}

TEST(LatentAttention, HasThePapersMatrices) {
  // DeepSeek-V2 (arXiv 2405.04434), eqs. 9 to 19, with V3's sizes: W^DQ, W^UQ and W^QR, W^DKV and W^KR, W^UK and W^UV,
  // W^O, and the norms of both low-rank results.
  const double h = 7168, a = 128, q = 1536, kv = 512;
  const double matrices = h * q + q * a * (128 + 64) + h * (kv + 64) + kv * a * (128 + 128) + a * 128 * h;
  const auto held = [](const Scenario& s) { return parameters(layer_operators(s, stack_sizes(s, 4096, true))); };
  const double all = matrices + q + kv + 2 * h + 3 * h * 18432, whole = h * q + h * (kv + 64) + q + kv + 2 * h;
  EXPECT_EQ(held(v3(1)), all);
  EXPECT_EQ(held(v3(4)), (all - whole) / 4 + whole);
}

TEST(LatentAttention, MultipliesThroughTheLowRanks) {
  const Scenario s = v3(1);
  double flops = 0;
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, sizes, list);
  latent_projections(w);
  for (const Kernel& op : list.forward)
    if (const auto* gemm = std::get_if<Gemm>(&op)) flops += gemm->shape.flops().value;
  const double h = 7168, a = 128, q = 1536, kv = 512;
  EXPECT_EQ(flops, 2 * 4096 * (h * q + q * a * 192 + h * (kv + 64) + kv * a * 256));
}

TEST(LatentAttention, GathersOnlyTheLowRankResultsOverTensorRanks) {
  const Scenario s = v3(4);
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, sizes, list);
  latent_projections(w);
  std::int64_t bytes = 0;
  for (const Kernel& op : list.forward)
    if (const auto* gather = std::get_if<TensorCollective>(&op)) bytes += gather->bytes.value;
  EXPECT_EQ(bytes, 4096 * (1536 + 512 + 64) * 2);
}

TEST(LatentAttention, GathersAgainInBackwardWhatItKeptOfItsOwnTokensAlone) {
  // A rank keeps a quarter of the tokens' low-rank results, so the weights' gradients want the others'. The gradient of
  // what forward gathered is scattered, that of the part with positions too.
  const Scenario s = v3(4);
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, sizes, list);
  latent_projections(w);
  std::int64_t gathered = 0, scattered = 0;
  for (const Kernel& op : list.backward)
    if (const auto* traffic = std::get_if<TensorCollective>(&op)) {
      EXPECT_EQ(traffic->of_saved_input,
                traffic->operation == collectives::Operation::all_gather);  // not cast again in 8 bits
      std::int64_t& sum = traffic->operation == collectives::Operation::all_gather ? gathered : scattered;
      sum += traffic->bytes.value;
    }
  EXPECT_EQ(gathered, 4096 * (1536 + 512) * 2);
  EXPECT_EQ(scattered, 4096 * (1536 + 512 + 64) * 2);
}

// The norms' outputs, which the multiplies up read, are kept as they were cast.
TEST(LatentAttention, KeepsCastsOfLowRankResults) {
  const auto kept = [](Precision precision) {
    Scenario s = v3(4);
    s.training.precision = precision;
    const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
    OperatorList list;
    Writer w(s, sizes, list);
    latent_projections(w);
    return saved_bytes(list);
  };
  EXPECT_EQ(kept(Precision::bf16) - kept(Precision::fp8), 4096 / 4 * (1536 + 512));
}

TEST(LatentAttention, KeepsWhatItsMultipliesAndNormsRead) {
  const double tokens = 4096, h = 7168;
  const double latent = tokens * (2 * 1536 + 2 * 512 + 64) * 2;
  const Scenario s = v3(1);
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, sizes, list);
  latent_projections(w);
  EXPECT_EQ(saved_bytes(list), latent);
  // Two norms and what follows them, queries and keys of 192 and values of 128 a head, its result, SwiGLU's three.
  const double rest = tokens * 2 * (4 * h + 128 * (192 + 192 + 128 + 128) + 3 * 18432) + tokens * 128 * 4;
  EXPECT_EQ(saved_activation_bytes(s, sizes, Recompute::none), latent + rest);
}

}  // namespace
}  // namespace stepcast::schedules
