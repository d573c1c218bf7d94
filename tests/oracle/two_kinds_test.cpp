// A K80 and a V100 in one job: single precision 8.74 and 15.7 TFLOP/s, memory 480 and 900 GB/s on the data sheets,
// about 1:2 in either; the batch is shared so.

#include <gtest/gtest.h>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

schedules::Forecast pair(std::vector<std::string> settings) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/k80-v100-pair.yaml"}, settings, library);
  EXPECT_EQ(questions.at(0).error, "");
  return schedules::forecast(questions.at(0).scenario);
}

TEST(K80AndV100, BalanceOneToTwo) {
  // Six samples: two and four.
  for (const char* model : {"resnet-50", "vgg-16"}) {
    const auto three = pair({"training.global_batch=6", "training.micro_batch=3", std::string("model=") + model});
    EXPECT_EQ(three.shares.at(0).micro_batch, 2) << model;
    EXPECT_EQ(three.shares.at(1).micro_batch, 4) << model;
  }
}

TEST(K80AndV100, SharesOfALargeBatchAreNearTheirPublishedSpeeds) {
  const auto f = pair({});
  const double ratio =
      static_cast<double>(f.shares.at(1).micro_batch) / static_cast<double>(f.shares.at(0).micro_batch);
  EXPECT_GT(ratio, 15.7 / 8.74 - 0.1);
  EXPECT_LT(ratio, 2.1);
}

TEST(K80AndV100, BalancingIsWorthAThird) {
  // Equal shares take as long as half the batch on a K80, balanced ones as a third.
  EXPECT_NEAR(pair({}).step / pair({"training.balance=equal"}).step, 2.0 / 3, 0.07);
}

}  // namespace
}  // namespace stepcast
