#include "schedules/notes.h"

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario over(std::uint32_t data, int zero) {
  Scenario s = round_numbers(data);
  s.model.layers = 4;
  s.parallelism.data = data;
  s.training.global_batch = 4 * data;
  s.data_parallel.zero = zero;
  return s;
}

std::string text_of(const Scenario& s, const std::string& key) {
  for (const Note& note : notes(s))
    if (note.key == key) return note.text;
  return "";
}

TEST(Notes, OfAPlainPlanAreNone) { EXPECT_TRUE(notes(over(8, 0)).empty()); }

TEST(Notes, SayThatEvenRoutingIsTakenWhereNoTokensAreDropped) {
  const std::string key = "training.experts.spread", counts = "; a value above 0, ";
  Scenario s = over(8, 0);
  EXPECT_EQ(text_of(s, key), "");
  s.model = small_experts();
  EXPECT_EQ(text_of(s, key), "") << "a rank with all experts waits for none";
  s.parallelism.expert = 8;
  EXPECT_NE(text_of(s, key).find(counts), std::string::npos);
  Scenario uneven = s, dropping = s, limited = s;
  uneven.training.expert_load.spread = 0.5;
  dropping.training.expert_load.capacity = 1;
  limited.training.expert_load.node_limit = 1;
  EXPECT_EQ(text_of(uneven, key), "");
  EXPECT_EQ(text_of(dropping, key), "");
  EXPECT_NE(text_of(limited, key), "");
  EXPECT_EQ(text_of(limited, key).find(counts), std::string::npos) << "which is not built beside a limit of nodes";
  EXPECT_GT(forecast(uneven).step, forecast(s).step);
}

TEST(Notes, SayHowOftenZeroSumsAndGathers) {
  EXPECT_EQ(text_of(over(8, 2), "data_parallel.zero"),
            "2 sums gradients for each of 4 micro-batches; sum_once: true keeps them whole and sums once a step");
  EXPECT_EQ(
      text_of(over(8, 3), "data_parallel.zero"),
      "3 is FSDP's full shard: a layer's parameters are gathered before forward and again before backward, for each "
      "of 4 micro-batches");
  EXPECT_EQ(text_of(over(8, 1), "data_parallel.zero"), "");
}

TEST(Notes, OfABucketThatChangesNoTimeAreTrue) {
  for (const int zero : {0, 2, 3})
    for (const bool overlap : {false, true}) {
      Scenario s = over(8, zero);
      s.data_parallel.overlap = overlap;
      s.data_parallel.bucket = Bytes{1 << 20};
      Scenario smaller = s;
      smaller.data_parallel.bucket = Bytes{1 << 19};
      EXPECT_NE(text_of(s, "data_parallel.bucket"), "") << zero << overlap;
      EXPECT_EQ(forecast(s).step, forecast(smaller).step) << zero << overlap;
    }
  Scenario large = over(8, 0);
  large.data_parallel.bucket = Bytes{1LL << 30};
  EXPECT_EQ(text_of(large, "data_parallel.bucket"), "");
}

TEST(Notes, OfKeysThatChangeNothingAreTrue) {
  Scenario s = over(1, 0);
  s.training.global_batch = 4;
  const Forecast plain = forecast(s);
  s.data_parallel.zero = 1;
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = Bytes{1 << 20};
  s.parallelism.sequence = true;
  s.parallelism.tensor_method = TensorMethod::reduce_output;
  for (const char* key : {"data_parallel.zero", "data_parallel.overlap", "data_parallel.bucket"})
    EXPECT_EQ(text_of(s, key), "changes nothing: there is one data-parallel rank") << key;
  for (const char* key : {"parallelism.sequence", "parallelism.tensor_method"})
    EXPECT_EQ(text_of(s, key), "changes nothing: there is one tensor rank") << key;
  const Forecast same = forecast(s);
  EXPECT_EQ(same.step, plain.step);
  EXPECT_EQ(same.stages.front().memory.peak(), plain.stages.front().memory.peak());
  s.data_parallel.zero = 2;
  s.offload.optimizer = Tier::host;
  EXPECT_EQ(text_of(s, "data_parallel.zero"), "");
}

TEST(Notes, OfStagesThatThereAreNoneOfAreTrue) {
  Scenario s = over(8, 0);
  const Time plain = forecast(s).step;
  s.pipeline.embedding_as_layer = s.pipeline.head_as_layer = true;
  for (const char* key : {"pipeline.embedding_as_layer", "pipeline.head_as_layer"})
    EXPECT_EQ(text_of(s, key), "changes nothing: there is one stage") << key;
  s.parallelism.context_method = ContextMethod::ulysses;
  EXPECT_EQ(text_of(s, "parallelism.context_method"), "changes nothing: there is one context rank");
  EXPECT_EQ(forecast(s).step, plain);
  EXPECT_EQ(text_of(s, "pipeline.schedule"), "");
  s.pipeline.schedule = "interleaved-1f1b";
  EXPECT_NE(text_of(s, "pipeline.schedule"), "");
  EXPECT_EQ(forecast(s).step, plain);
}

// Two passes side by side hide each other's traffic, whichever it is; frameworks build that for experts.
TEST(Notes, SayWhereAPlanHidesWhatFewFrameworksHide) {
  Scenario s = over(2, 0);
  s.cluster.gpus = 8;
  s.parallelism.tensor = s.parallelism.pipeline = 2;
  s.pipeline.schedule = "zb-v";
  s.pipeline.virtual_stages = 2;
  EXPECT_EQ(text_of(s, "pipeline.schedule"), "");
  s.pipeline.schedule = "dualpipe-v";
  EXPECT_NE(text_of(s, "pipeline.schedule"), "");
}

TEST(Notes, SayThatHashedFlowsMayCollide) {
  Scenario s = over(16, 0);
  s.cluster.fabric.routing = "hash";
  EXPECT_NE(text_of(s, "cluster.fabric.routing"), "");
  s = over(8, 0);
  s.cluster.fabric.routing = "hash";  // nobody uses it
  EXPECT_EQ(text_of(s, "cluster.fabric.routing"), "");
}

TEST(Notes, SayThatASeedChangesNothingWhereNoPathIsHashed) {
  Scenario s = over(16, 0);
  s.cluster.fabric.seed = 3;
  EXPECT_NE(text_of(s, "cluster.fabric.seed"), "");
  s.cluster.fabric.kind = "fat-tree";
  s.cluster.fabric.routing = "hash";
  EXPECT_EQ(text_of(s, "cluster.fabric.seed"), "");
  s.cluster.gpus = s.cluster.node.gpus;
  EXPECT_NE(text_of(s, "cluster.fabric.seed"), "");
}

TEST(Notes, SayThatOneSampleForEachRankCannotBeSharedBySpeed) {
  Scenario s = over(8, 0);
  s.cluster.other.emplace().first = 4;
  s.training.balance = true;
  s.training.micro_batch = 1;
  EXPECT_EQ(text_of(s, "training.balance"),
            "changes nothing: 4 and 4 data ranks can share 8 samples in one way alone, 1 each; a larger "
            "training.micro_batch leaves more");
  s.training.micro_batch = 2;
  EXPECT_EQ(text_of(s, "training.balance"), "");
}

TEST(Notes, SayThatKeysOfWhatIsNotDoneChangeNothing) {
  Scenario s = over(8, 0);
  for (const char* key : {"offload.adam_rate", "offload.overlap", "training.experts.seed"})
    EXPECT_EQ(text_of(s, key), "") << key;
  s.offload.adam_rate = 1e9;
  s.offload.overlap = false;
  s.training.expert_load.seed = 2;
  EXPECT_EQ(text_of(s, "offload.adam_rate"), "changes nothing: the GPUs update the parameters");
  EXPECT_EQ(text_of(s, "offload.overlap"), "changes nothing: nothing is offloaded");
  EXPECT_EQ(text_of(s, "training.experts.seed"), "changes nothing: without a spread no loads of experts are drawn");
  s.offload.activations = Tier::host;
  EXPECT_EQ(text_of(s, "offload.overlap"), "");
  EXPECT_NE(text_of(s, "offload.adam_rate"), "");
  s.offload.optimizer = Tier::host;
  EXPECT_EQ(text_of(s, "offload.adam_rate"), "");
  s.training.expert_load.spread = 0.5;
  EXPECT_EQ(text_of(s, "training.experts.seed"), "");
}

}  // namespace
}  // namespace stepcast::schedules
