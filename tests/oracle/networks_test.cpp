// PublishedNetwork parameter counts and multiplies per image of the convolutional models in configs/models.

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "language/questions.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"

namespace stepcast {
namespace {

schedules::Blocks network(const std::string& name) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions =
      language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/resnet-50-v100.yaml"},
                               std::vector<std::string>{"model=" + name}, library);
  EXPECT_EQ(questions.at(0).error, "");
  schedules::Scenario s = questions.at(0).scenario;
  s.training.micro_batch = s.training.global_batch = 1;
  return schedules::blocks(s);
}

struct PublishedNetwork {
  const char* name;
  double parameters;  ///< torchvision's reference, "Models and pre-trained weights"
  double multiply_adds;
};

class Networks : public testing::TestWithParam<PublishedNetwork> {};
INSTANTIATE_TEST_SUITE_P(Torchvision, Networks,
                         testing::Values(PublishedNetwork{"alexnet", 61'100'840, 0.714e9},
                                         PublishedNetwork{"vgg-16", 138'357'544, 15.47e9},
                                         PublishedNetwork{"vgg-19", 143'667'240, 19.63e9},
                                         PublishedNetwork{"resnet-50", 25'557'032, 4.089e9},
                                         PublishedNetwork{"resnet-101", 44'549'160, 7.801e9},
                                         PublishedNetwork{"resnet-152", 60'192'808, 11.514e9},
                                         PublishedNetwork{"wide-resnet-50-2", 68'883'240, 11.398e9},
                                         PublishedNetwork{"wide-resnet-101-2", 126'886'696, 22.753e9},
                                         PublishedNetwork{"inception-v3-no-auxiliary", 23'834'568, 5.713e9}),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Networks, HaveThePublishedParameters) {
  const schedules::Blocks all = network(GetParam().name);
  EXPECT_EQ(schedules::parameters(all, schedules::cut(all, 1)), GetParam().parameters);
}

TEST_P(Networks, MultiplyAsOftenAsPublished) {
  constexpr double kFlopsPerMultiplyAdd = 2;
  schedules::Blocks forward = network(GetParam().name);
  for (schedules::Block& block : forward.kinds) block.backward.clear();
  EXPECT_NEAR(schedules::model_flops(forward).value / kFlopsPerMultiplyAdd / GetParam().multiply_adds, 1, 0.005);
}

double parameters_of_network(const std::string& name) {
  const schedules::Blocks all = network(name);
  return schedules::parameters(all, schedules::cut(all, 1));
}

// osmr/imgclsmob, PreResNet-164(BN) on CIFAR-10; He et al. 2016 (arXiv 1603.05027) have 1.7 million.
TEST(PreActivationResNet164, HasThePublishedParameters) { EXPECT_EQ(parameters_of_network("resnet-164"), 1'703'258); }

/// alpa-projects/alpa, alpa/model/wide_resnet.py: 50 layers of `channels` base channels whose 3x3 convolutions are
/// `factor` times as wide, each with a norm behind it, and a head of 1024 classes.
double wide_resnet(double channels, double factor) {
  double sum = 7 * 7 * 3 * channels + 2 * channels, in = channels;
  const int repeats[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const double f = channels * std::exp2(stage), wide = f * factor, out = 4 * f;
    sum += in * out + 2 * out;  // the shortcut
    for (int unit = 0; unit < repeats[stage]; ++unit, in = out)
      sum += in * f + 2 * f + 9 * f * wide + 2 * wide + wide * out + 2 * out;
  }
  return sum + in * 1024 + 1024;
}

TEST(WideResNet, OfAlpaHaveTheParametersOfItsCodeAndNearlyThoseOfItsNames) {
  for (const auto& [name, published, channels, factor] : {std::tuple{"250m", 0.25e9, 160, 2},
                                                          {"500m", 0.5e9, 224, 2},
                                                          {"1b", 1e9, 320, 2},
                                                          {"2b", 2e9, 448, 2},
                                                          {"4b", 4e9, 640, 2},
                                                          {"6.8b", 6.8e9, 320, 16},
                                                          {"13b", 13e9, 320, 32}}) {
    const double counted = parameters_of_network(std::string("wide-resnet-") + name);
    EXPECT_EQ(counted, wide_resnet(channels, factor)) << name;
    EXPECT_NEAR(counted / published, 1, 0.021) << name;
  }
}

TEST(InceptionV3, HasItsAuxiliaryHeadToo) {
  const schedules::Blocks all = network("inception-v3");
  EXPECT_EQ(schedules::parameters(all, schedules::cut(all, 1)), 27'161'264);
}

}  // namespace
}  // namespace stepcast
