// Published parameter counts of the decoder-only language models in configs/models.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "language/questions.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"

namespace stepcast {
namespace {

schedules::Blocks on_one_gpu(const std::string& model) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const std::vector<std::string> settings = {
      "model=" + model,       "cluster.gpus=1",          "training.sequence=1024", "recompute=none",
      "data_parallel.zero=0", "training.global_batch=2", "training.micro_batch=1", "software.vocabulary_multiple=1"};
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/llama2-7b-zero3.yaml"}, settings, library);
  EXPECT_EQ(questions.at(0).error, "");
  return schedules::blocks(questions.at(0).scenario);
}

double parameters(const std::string& model) {
  const schedules::Blocks all = on_one_gpu(model);
  return schedules::parameters(all, schedules::cut(all, 1));
}

struct Published {
  const char* name;
  double parameters;
};

void PrintTo(const Published& each, std::ostream* out) { *out << each.name; }

std::string test_name(const testing::TestParamInfo<Published>& each) {
  std::string name = each.param.name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Decoders : public testing::TestWithParam<Published> {};
// As Hugging Face's safetensors metadata, model cards or the papers have them; configs/models names which. OPT's from
// 2.7b to 13b, and Llama 3.2, Mistral, TinyLlama, GPT-NeoX and Pythia: what their code counts, from memory.
INSTANTIATE_TEST_SUITE_P(
    ReleasedCheckpoints, Decoders,
    testing::Values(Published{"gpt2-124m", 124'439'808}, Published{"gpt2-355m", 354'823'168},
                    Published{"gpt2-774m", 774'030'080}, Published{"gpt2-1.5b", 1'557'611'200},
                    Published{"opt-125m", 125'239'296}, Published{"opt-350m", 331'196'416},
                    Published{"opt-1.3b", 1'315'758'080}, Published{"opt-2.7b", 2'651'596'800},
                    Published{"opt-6.7b", 6'658'473'984}, Published{"opt-13b", 12'853'473'280},
                    Published{"bloom-176b", 176'247'271'424}, Published{"falcon-7b", 7'217'189'760},
                    Published{"falcon-40b", 41'835'970'560}, Published{"falcon-180b", 179'522'565'120},
                    Published{"qwen2.5-0.5b", 494'032'768}, Published{"qwen2.5-1.5b", 1'543'714'304},
                    Published{"qwen2.5-3b", 3'085'938'688}, Published{"qwen2.5-7b", 7'615'616'512},
                    Published{"qwen2.5-14b", 14'770'033'664}, Published{"qwen2.5-32b", 32'763'876'352},
                    Published{"qwen2.5-72b", 72'706'203'648}, Published{"qwen3-0.6b", 596'049'920},
                    Published{"qwen3-1.7b", 1'720'574'976}, Published{"qwen3-4b", 4'022'468'096},
                    Published{"qwen3-8b", 8'190'735'360}, Published{"qwen3-14b", 14'768'307'200},
                    Published{"qwen3-32b", 32'762'123'264}, Published{"qwen3-30b-a3b", 30'532'122'624},
                    Published{"qwen3-235b-a22b", 235'093'634'560}, Published{"llama2-13b", 13'015'864'320},
                    Published{"llama3.2-1b", 1'235'814'400}, Published{"llama3.2-3b", 3'212'749'824},
                    Published{"mistral-7b", 7'241'732'096}, Published{"tinyllama-1.1b", 1'100'048'384},
                    Published{"gpt-neox-20b", 20'554'567'680}, Published{"pythia-1b", 1'011'781'632},
                    Published{"pythia-6.9b", 6'857'302'016}, Published{"pythia-12b", 11'846'072'320}),
    test_name);

TEST_P(Decoders, HaveThePublishedParameters) { EXPECT_EQ(parameters(GetParam().name), GetParam().parameters); }

class RoundDecoders : public testing::TestWithParam<Published> {};
// To the digits that the papers give: OPT (arXiv 2205.01068), table 1; DeepSeek-R1 (arXiv 2501.12948), table 4 of V3's
// report; Microsoft's accounts of Turing-NLG.
INSTANTIATE_TEST_SUITE_P(Papers, RoundDecoders,
                         testing::Values(Published{"opt-30b", 30e9}, Published{"opt-66b", 66e9},
                                         Published{"opt-175b", 175e9}, Published{"deepseek-r1", 671e9},
                                         Published{"turing-nlg-17.2b", 17.2e9}),
                         test_name);

TEST_P(RoundDecoders, HaveThePublishedParametersWithinHalfAPercent) {
  EXPECT_NEAR(parameters(GetParam().name) / GetParam().parameters, 1, 0.005);
}

}  // namespace
}  // namespace stepcast
