#include "models/layers/partition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/layers/model_blocks.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using Layers = std::vector<std::uint32_t>;

Scenario of_layers(std::int64_t layers, Partition partition) {
  Scenario s = round_numbers(1);
  s.model.layers = layers;
  s.software.partition = partition;
  return s;
}

ChunkLayers shared_out(Scenario s, std::uint32_t stages) {
  s.parallelism.pipeline = stages;
  EXPECT_EQ(partition_problem(s, stages), "");
  return share_out(s, blocks(s), stages);
}

/// The shapes of the Ultra-Scale Playbook: the head is as many multiplies as four layers of the first, two and a bit of
/// the second.
Scenario llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn) {
  Scenario s = of_layers(layers, Partition::cost);
  s.model.family = Family::llama;
  s.model.hidden = hidden;
  s.model.heads = s.model.kv_heads = 32;
  s.model.ffn = ffn;
  s.model.vocab = 131072;
  return s;
}

TEST(Partition, GivesAsManyLayersEachWhereTheyDivide) {
  EXPECT_EQ(shared_out(of_layers(12, Partition::layers), 4).layers, (Layers{3, 3, 3, 3}));
}

TEST(Partition, CountsEmbeddingAndHeadWhereLayersDoNotDivide) {
  EXPECT_EQ(shared_out(of_layers(14, Partition::layers), 4).layers, (Layers{3, 4, 4, 3}));  // 16 over 4
  EXPECT_EQ(shared_out(of_layers(126, Partition::layers), 16).layers,                       // Llama 3 405B
            (Layers{7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7}));
  EXPECT_EQ(shared_out(of_layers(9, Partition::layers), 2).layers, (Layers{4, 5}));  // 11 over 2
}

TEST(Partition, BalancesLayersAsDeepSpeed) {
  EXPECT_EQ(shared_out(of_layers(9, Partition::transformer), 4).layers, (Layers{3, 2, 2, 2}));
  EXPECT_EQ(shared_out(of_layers(10, Partition::transformer), 4).layers, (Layers{3, 3, 2, 2}));
  // BLOOM, 70 layers over 12 stages: 72 with embedding and head (bigscience, train/tr11-176B-ml).
  EXPECT_EQ(shared_out(of_layers(70, Partition::transformer_and_embedding), 12).layers,
            (Layers{5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5}));
  EXPECT_EQ(shared_out(of_layers(9, Partition::transformer_and_embedding), 4).layers, (Layers{2, 3, 3, 1}));
}

TEST(Partition, BalancesParameters) {
  Scenario s = of_layers(8, Partition::parameters);
  s.model.vocab = 1;  // nothing to embed
  EXPECT_EQ(shared_out(s, 4).layers, (Layers{2, 2, 2, 2}));
  // As heavy as four layers each: the stages of the ends hold nothing else.
  s.model.vocab = 4 * 12 * s.model.hidden;
  s.model.positions = 1;
  EXPECT_EQ(shared_out(s, 4).layers, (Layers{0, 4, 4, 0}));
}

/// Of all ways to share out blocks none has a heaviest stage that is less heavier than the lightest, where that can be
/// found by going on from fewer stages: with two stages always.
TEST(Partition, BalancesParametersAsEvenlyAsCanBeOverTwoStages) {
  for (std::int64_t layers = 1; layers < 20; ++layers)
    for (const std::int64_t head : {1, 3, 7, 40}) {
      Scenario s = of_layers(layers, Partition::parameters);
      s.model.vocab = head * s.model.hidden;
      const Blocks model = blocks(s);
      const auto spread = [&](std::uint32_t first) {
        double sums[2] = {0, 0};
        for (std::uint32_t place = 0; place < model.order.size(); ++place)
          sums[place < first + 1 ? 0 : 1] += model.at(place).parameters;
        return std::abs(sums[0] - sums[1]);
      };
      const std::uint32_t chosen = shared_out(s, 2).layers.front();
      for (std::uint32_t first = 0; first <= layers; ++first)
        EXPECT_LE(spread(chosen), spread(first)) << layers << " layers, head " << head << ", first stage " << first;
    }
}

TEST(Partition, SharesOutMultipliesAsNanotron) {
  const Scenario one = llama(16, 2048, 8192);
  EXPECT_EQ(shared_out(one, 2).layers, (Layers{11, 5}));
  EXPECT_EQ(shared_out(one, 4).layers, (Layers{6, 5, 5, 0}));
  const ChunkLayers eight = shared_out(one, 8);
  EXPECT_EQ(eight.layers, (Layers{3, 3, 2, 3, 2, 3, 0, 0}));
  EXPECT_EQ(eight.behind, (Layers{6, 7, 7}));  // the head; the cast of the logits and the loss
  EXPECT_EQ(shared_out(llama(28, 3072, 8192), 8).layers, (Layers{4, 4, 4, 4, 4, 4, 4, 0}));
}

/// Of the 1 to 80 billion parameters of the playbook's runs, those whose every stage would get a block ran, those with
/// an empty one failed (all but one of 1,613).
TEST(Partition, RefusesStagesThatGetNothing) {
  EXPECT_NE(partition_problem(llama(16, 2048, 8192), 16), "");
  EXPECT_NE(partition_problem(llama(28, 3072, 8192), 32), "");
  EXPECT_EQ(partition_problem(llama(28, 3072, 8192), 16), "");
  EXPECT_NE(partition_problem(of_layers(3, Partition::transformer), 4), "");
  EXPECT_NE(partition_problem(of_layers(3, Partition::layers), 6), "");
  EXPECT_EQ(partition_problem(of_layers(3, Partition::layers), 5), "");
  EXPECT_NE(partition_problem(of_layers(100'000, Partition::parameters), 8), "") << "it would take minutes";
  EXPECT_EQ(partition_problem(of_layers(1000, Partition::parameters), 100), "");
}

TEST(Partition, LeavesNoLayerOutAndNoStageEmpty) {
  for (const Partition partition : {Partition::layers, Partition::transformer, Partition::transformer_and_embedding,
                                    Partition::parameters, Partition::cost})
    for (std::int64_t layers = 1; layers < 30; ++layers)
      for (std::uint32_t stages = 1; stages < 20; ++stages) {
        Scenario s = llama(layers, 1024, 4096);
        s.software.partition = partition;
        s.parallelism.pipeline = stages;
        if (!partition_problem(s, stages).empty()) continue;
        const Blocks model = blocks(s);
        const ChunkLayers shares = share_out(s, model, stages);
        EXPECT_EQ(std::accumulate(shares.layers.begin(), shares.layers.end(), 0), layers);
        std::uint32_t next = 0;
        for (const BlockRange& chunk : cut(model, shares)) {
          EXPECT_EQ(chunk.first, next);
          EXPECT_GT(chunk.count, 0u) << layers << " layers over " << stages;
          next += chunk.count;
        }
        EXPECT_EQ(next, model.order.size());
      }
}

/// The loss on a stage of its own gets the logits of its micro-batch, and what is summed over tied embeddings comes
/// from the stage of the head.
TEST(Partition, LetsHeadAndLossStandOnTwoStages) {
  Scenario s = llama(16, 2048, 8192);
  s.parallelism.pipeline = 8;
  s.model.variations.tied_head = true;
  const Blocks model = blocks(s);
  ASSERT_EQ(model.order.size(), 20u);
  const Block &head = model.at(17), &cast = model.at(18), &loss = model.at(19);
  EXPECT_EQ(head.output, static_cast<double>(s.training.micro_batch * s.training.sequence) * 131072 * 2);
  EXPECT_EQ(cast.output, 2 * head.output);  // fp32
  EXPECT_EQ(cast.parameters + loss.parameters, 0);
  EXPECT_EQ(tied_place(model), 17u);
  Scenario together = s;
  together.software.partition = Partition::layers;
  const Blocks one = blocks(together);
  EXPECT_EQ(head.parameters, one.at(17).parameters);
  EXPECT_EQ(head.forward.size() + cast.forward.size() + loss.forward.size(), one.at(17).forward.size());
}

}  // namespace
}  // namespace stepcast::schedules
