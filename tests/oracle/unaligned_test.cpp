// Measured pairs of sizes that differ little but for their alignment: "The Case for Co-Designing Model Architectures
// with Hardware" (Anthony et al. 2024, arXiv 2401.14489), measurements on an A100 in github.com/EleutherAI/cookbook,
// commits fb3e361 (sizing/results/transformer_data/h_sweep.out, tensor_mp_size 1: "Transformer duration") and 27dff48
// (vocab_h_sweep.out, vocab_v_sweep.out). And one of a whole step.

#include <gtest/gtest.h>

#include "language/configs/files.h"
#include "language/questions.h"
#include "models/cost/gemm.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

schedules::Scenario layer(int head_width) {
  const int hidden = 128 * head_width;
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/tests/oracle/one_layer.yaml"},
      std::vector<std::string>{"model.hidden=" + std::to_string(hidden), "model.ffn=" + std::to_string(4 * hidden)},
      library);
  EXPECT_EQ(questions.front().error, "");
  return questions.front().scenario;
}

double layer_forward(int head_width) {
  return to_seconds(schedules::forecast(layer(head_width)).layer_forward.value());
}

struct HeadWidths {
  int unaligned, aligned;
  double measured;  ///< time of the layer with the one width over that with the other
  double most_error = 0.06;
};

TEST(UnalignedHeads, SlowTheLayerDownAsTheyWereMeasuredTo) {
  for (const HeadWidths& pair :
       {HeadWidths{65, 64, 0.0728 / 0.0628},
        {79, 80, 0.1 / 0.0905},
        {95, 96, 0.1342 / 0.1256},
        {127, 128, 0.2307 / 0.2152},
        {82, 80, 0.0989 / 0.0905},
        // Misses: below a width of 72 cuBLAS took a kernel for the scores that is three times slower still.
        {66, 64, 0.0765 / 0.0628, 0.15}}) {
    EXPECT_NEAR(layer_forward(pair.unaligned) / layer_forward(pair.aligned) / pair.measured, 1, pair.most_error)
        << pair.unaligned << " beside " << pair.aligned;
  }
}

struct Multiplies {
  schedules::GemmShape unaligned, aligned;
  double measured;  ///< rate of the aligned one over that of the other
};

TEST(UnalignedMultiplies, AreAsMuchSlowerAsTheyWereMeasuredToBe) {
  const schedules::Gpu a100 = layer(64).cluster.gpu;
  const schedules::GemmMachine machine{a100.sms, peak(a100, schedules::Precision::fp16), a100.memory_bandwidth,
                                       a100.memory_efficiency};
  const auto rate = [&](const schedules::GemmShape& shape) {
    return shape.flops().value / to_seconds(gemm_time(shape, gemm_model(a100, schedules::Precision::fp16), machine));
  };
  // A vocabulary of 51,200 and one word more, and hidden sizes of 14,336, two more and one more.
  for (const Multiplies& pair : {Multiplies{{8192, 14336, 51201}, {8192, 14336, 51200}, 255.503 / 73.762},
                                 {{8192, 14336, 51202}, {8192, 14336, 51200}, 255.503 / 139.703},
                                 {{8192, 14337, 51200}, {8192, 14336, 51200}, 261.041 / 71.083},
                                 {{8192, 14338, 51200}, {8192, 14336, 51200}, 261.041 / 172.577}}) {
    EXPECT_NEAR(rate(pair.aligned) / rate(pair.unaligned) / pair.measured, 1, 0.2)
        << pair.unaligned.n << " x " << pair.unaligned.k;
  }
}

double step_of_gpt_2(int vocabulary, const std::string& software) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/tests/oracle/one_layer.yaml"},
      std::vector<std::string>{"model=gpt2-124m", "model.vocab=" + std::to_string(vocabulary),
                               "training.global_batch=12", "training.micro_batch=12", "training.sequence=1024",
                               "training.precision=bf16", "software=" + software},
      library);
  EXPECT_EQ(questions.front().error, "");
  return to_seconds(schedules::forecast(questions.front().scenario).step);
}

/// "The most dramatic optimization to nanoGPT so far (~25% speedup) is to simply increase vocab size from 50257 to
/// 50304" (Karpathy, 3 February 2023, from memory; GPT-2 124M on A100). Compiled later, Inductor pads the multiply: in
/// "Let's reproduce GPT-2" (2024) the same change brought 4 %.
TEST(UnalignedVocabulary, SlowsGpt2DownByAQuarterUnlessItsHeadIsCompiled) {
  EXPECT_NEAR(step_of_gpt_2(50257, "pytorch-ddp") / step_of_gpt_2(50304, "pytorch-ddp"), 1.25, 0.1);
  EXPECT_LT(step_of_gpt_2(50257, "pytorch-ddp-compiled") / step_of_gpt_2(50304, "pytorch-ddp-compiled"), 1.04);
}

}  // namespace
}  // namespace stepcast
