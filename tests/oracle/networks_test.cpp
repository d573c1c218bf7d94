// Published parameter counts and multiplies per image of the convolutional models in configs/models.

#include <gtest/gtest.h>

#include "app/read/questions.h"
#include "schedules/model/blocks.h"

namespace stepcast {
namespace {

schedules::Blocks model(const std::string& name) {
  app::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions =
      app::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/resnet-50-v100.yaml"},
                          std::vector<std::string>{"model=" + name}, library);
  EXPECT_EQ(questions.at(0).error, "");
  schedules::Scenario s = questions.at(0).scenario;
  s.training.micro_batch = s.training.global_batch = 1;
  return schedules::blocks(s);
}

struct Published {
  const char* name;
  double parameters;  ///< torchvision's reference, "Models and pre-trained weights"
  double multiply_adds;
};

class Networks : public testing::TestWithParam<Published> {};
INSTANTIATE_TEST_SUITE_P(
    Torchvision, Networks,
    testing::Values(Published{"alexnet", 61'100'840, 0.714e9}, Published{"vgg-16", 138'357'544, 15.47e9},
                    Published{"vgg-19", 143'667'240, 19.63e9}, Published{"resnet-50", 25'557'032, 4.089e9},
                    Published{"resnet-101", 44'549'160, 7.801e9}, Published{"resnet-152", 60'192'808, 11.514e9},
                    Published{"inception-v3-no-auxiliary", 23'834'568, 5.713e9}),
    [](const auto& each) {
      std::string name = each.param.name;
      std::erase(name, '-');
      return name;
    });

TEST_P(Networks, HaveThePublishedParameters) {
  const schedules::Blocks all = model(GetParam().name);
  EXPECT_EQ(schedules::parameters(all, schedules::cut(all, 1)), GetParam().parameters);
}

TEST_P(Networks, MultiplyAsOftenAsPublished) {
  constexpr double kFlopsPerMultiplyAdd = 2;
  schedules::Blocks forward = model(GetParam().name);
  for (schedules::Block& block : forward.kinds) block.backward.clear();
  EXPECT_NEAR(schedules::model_flops(forward).value / kFlopsPerMultiplyAdd / GetParam().multiply_adds, 1, 0.005);
}

TEST(InceptionV3, HasItsAuxiliaryHeadToo) {
  const schedules::Blocks all = model("inception-v3");
  EXPECT_EQ(schedules::parameters(all, schedules::cut(all, 1)), 27'161'264);
}

}  // namespace
}  // namespace stepcast
