// PublishedTransformer parameter counts and multiplies of the encoders and encoder-decoders in configs/models.

#include <gtest/gtest.h>

#include "language/questions.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

schedules::Scenario transformer_on_one_gpu(const std::string& model, std::vector<std::string> settings) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  for (const char* one : {"parallelism.tensor=1", "parallelism.pipeline=1", "cluster.nodes=1", "recompute=none"})
    settings.emplace_back(one);
  settings.push_back("model=" + model);
  const std::string scenario = model.starts_with("vit")  ? "vit-h-14"
                               : model.starts_with("t5") ? "t5-11b"
                                                         : "bert-large";
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/" + scenario + ".yaml"}, settings, library);
  EXPECT_EQ(questions.at(0).error, "");
  return questions.at(0).scenario;
}

schedules::Blocks transformer(const std::string& name, const std::vector<std::string>& settings = {}) {
  schedules::Scenario s = transformer_on_one_gpu(name, settings);
  s.training.micro_batch = s.training.global_batch = 1;
  s.software.vocabulary_multiple = 1;  // as published, without a stack's padding
  return schedules::blocks(s);
}

double parameters_of(const std::string& name) {
  const schedules::Blocks all = transformer(name);
  return schedules::parameters(all, schedules::cut(all, 1));
}

struct PublishedTransformer {
  const char* name;
  double parameters;
};

class Transformers : public testing::TestWithParam<PublishedTransformer> {};
INSTANTIATE_TEST_SUITE_P(
    ReleasedCheckpoints, Transformers,
    testing::Values(PublishedTransformer{"bert-base", 110'106'428}, PublishedTransformer{"bert-large", 336'226'108},
                    PublishedTransformer{"t5-small", 60'506'624}, PublishedTransformer{"t5-base", 222'903'552},
                    PublishedTransformer{"t5-large", 737'668'096}, PublishedTransformer{"t5-3b", 2'851'598'336},
                    PublishedTransformer{"t5-11b", 11'307'321'344}, PublishedTransformer{"t5-1.1-small", 76'961'152},
                    PublishedTransformer{"t5-1.1-base", 247'577'856}, PublishedTransformer{"t5-1.1-xl", 2'849'757'184},
                    PublishedTransformer{"t5-1.1-xxl", 11'135'332'352}, PublishedTransformer{"vit-b-16", 86'567'656},
                    PublishedTransformer{"vit-l-16", 304'326'632}, PublishedTransformer{"vit-h-14", 632'045'800}),
    [](const auto& each) {
      std::string name = each.param.name;
      std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
      return name;
    });

TEST_P(Transformers, HaveThePublishedParameters) { EXPECT_EQ(parameters_of(GetParam().name), GetParam().parameters); }

TEST(MegatronBert, HasThePublishedParameters) {
  // Shoeybi et al. 2019 (arXiv 1909.08053), table 4, to the digits given there.
  EXPECT_NEAR(parameters_of("megatron-bert-336m") / 336e6, 1, 0.005);
  EXPECT_NEAR(parameters_of("megatron-bert-1.3b") / 1.3e9, 1, 0.05 / 1.3);
  EXPECT_NEAR(parameters_of("megatron-bert-3.9b") / 3.9e9, 1, 0.05 / 3.9);
}

constexpr double kFlopsPerMultiplyAdd = 2, kForwardAndBackward = 3;

TEST(Vit, MultipliesAsOftenAsPublished) {
  // torchvision, ViT_B_16_Weights and ViT_L_16_Weights: 17.56 and 61.55 G multiply-adds of one image.
  for (const auto& [name, published] : {std::pair{"vit-b-16", 17.56e9}, {"vit-l-16", 61.55e9}})
    EXPECT_NEAR(
        schedules::model_flops(transformer(name)).value / kFlopsPerMultiplyAdd / kForwardAndBackward / published, 1,
        0.005)
        << name;
}

TEST(Bert, MultipliesAreThoseOfNarayanan2021WithItsHeads) {
  // 72 B s l h^2 (1 + s/6h) of the layers, 6 B s h (h + V) of the masked-word head, 6 B h (h + 2) of pooler and next
  // sentence; with 20 predictions the masked-word head sees 20 tokens instead of s.
  const double l = 24, h = 1024, s = 512, V = 30522;
  const double layers = 72 * s * l * h * h * (1 + s / (6 * h)), sentence = 6 * h * (h + 2);
  EXPECT_DOUBLE_EQ(
      schedules::model_flops(transformer("bert-large", {"training.sequence=512", "training.predictions=512"})).value,
      layers + 6 * s * h * (h + V) + sentence);
  EXPECT_DOUBLE_EQ(
      schedules::model_flops(transformer("bert-large", {"training.sequence=512", "training.predictions=20"})).value,
      layers + 6 * 20 * h * (h + V) + sentence);
}

TEST(T5, MultipliesAreThoseOfItsTwoStacks) {
  // Encoder layer: s (4 h q + 2 h f) + 2 s^2 q; decoder layer: d (4 h q + 2 h f) + 2 d^2 q of its own and
  // d (2 h q) + s (2 h q) + 2 d s q of cross-attention, q = heads x head width; logits d h V.
  const double l = 24, h = 1024, q = 128 * 128, f = 65536, V = 32128, s = 512, d = 114;
  const double encoder = s * (4 * h * q + 2 * h * f) + 2 * s * s * q;
  const double decoder = d * (4 * h * q + 2 * h * f) + 2 * d * d * q + 2 * (d + s) * h * q + 2 * d * s * q;
  EXPECT_DOUBLE_EQ(
      schedules::model_flops(transformer("t5-11b", {"training.sequence=512", "training.decoder_sequence=114"})).value,
      kFlopsPerMultiplyAdd * kForwardAndBackward * (l * (encoder + decoder) + d * h * V));
}

}  // namespace
}  // namespace stepcast
