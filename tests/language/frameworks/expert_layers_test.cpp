#include "language/frameworks/tables/expert_layers.h"

#include <gtest/gtest.h>

#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

/// The layers with a letter each: E has experts.
std::string letters(std::string_view text, std::int64_t layers) {
  const auto routes = expert_layers(text, layers);
  std::string out;
  for (const bool each : routes.value_or(std::vector<bool>{})) out += each ? 'E' : '-';
  return out;
}

TEST(ExpertLayers, AreEvaluatedAsPythonDoes) {
  for (const char* const all : {"1", "[1]*4", "([1]*4)", "4*[1]", "[1,1,1,1]", "[1, 1, 1, 1]", "([1]+[1]*3)"})
    EXPECT_EQ(letters(all, 4), "EEEE") << all;
  EXPECT_EQ(letters("([0]*3+[1]*2)", 5), "---EE");
  EXPECT_EQ(letters("([0]+[1])*2", 4), "-E-E");
  EXPECT_EQ(letters("[0] * (1+1) + [1,0,]", 4), "--E-");
  EXPECT_EQ(letters("2", 5), "E-E-E");
  for (const char* const none : {"", "0", "x", "[1]*3", "([1]*4", "[1]*4)", "[2]*4", "[1]*[4]", "[[1]]*4", "[1]+4",
                                 "[1]*99999999999", "[0,0]*99999*99999", "${FREQ}"})
    EXPECT_EQ(letters(none, 4), "") << none;
  for (const char bracket : {'[', '('}) EXPECT_EQ(letters(std::string(300'000, bracket), 4), "") << bracket;
}

TEST(ExpertLayers, OfMegatronAreKeysOfTheModel) {
  const auto model = [](const std::string& frequency) {
    return imported("megatron",
                    "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
                    "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "
                    "--global-batch-size 32 --bf16 --vocab-size 51200 --normalization RMSNorm --num-experts 8 "
                    "--moe-layer-freq " +
                        frequency)
        .model;
  };
  EXPECT_EQ(model("([0]*3+[1]*5)").experts.dense_layers, 3);
  EXPECT_EQ(model("'([0]*3 + [1]*5)'").experts.dense_layers, 3);
  EXPECT_EQ(model("([0]+[1])*4").experts.every, 2);
  EXPECT_EQ(model("[1]*8").experts.dense_layers, 0);
  for (const char* const alternating : {"2", "([1]+[0])*4"}) {
    const schedules::Model found = model(alternating);
    EXPECT_EQ(found.variations.pattern.size(), 2u);
    EXPECT_EQ(schedules::layers_with(found, schedules::FeedForward::experts), 4);
    EXPECT_EQ(schedules::halves(found, 0).feed_forward, schedules::FeedForward::experts);
  }
  EXPECT_EQ(schedules::layers_with(model("([1]*3+[0]*2+[1]*3)"), schedules::FeedForward::experts), 6);
}

}  // namespace
}  // namespace stepcast::language
