// Models of Mamba-2 and attention layers in Megatron-LM's flags.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/language/frameworks/configurations.h"
#include "tests/language/frameworks/published.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;

// github.com/NVIDIA/Megatron-LM @d98e8a6, examples/mamba/train.sh: its branch of 8 billion parameters, without what
// decides nothing of the plan.
constexpr const char* kExample = R"(#!/bin/bash
TENSOR_MODEL_PARALLEL_SIZE=4
HYBRID_LAYER_PATTERN="M-M-M--M-M*-M-M-M-M--M*-M-M-M-M-M*--M-M-M-M-M*-M--M-M-M-"
HIDDEN_SIZE=4096
SEQ_LEN=4096
options=" \
       --tensor-model-parallel-size ${TENSOR_MODEL_PARALLEL_SIZE} \
       --sequence-parallel \
       --pipeline-model-parallel-size 1 \
       --use-distributed-optimizer \
       --overlap-param-gather \
       --overlap-grad-reduce \
       --untie-embeddings-and-output-weights \
       --position-embedding-type none \
       --hybrid-layer-pattern ${HYBRID_LAYER_PATTERN} \
       --hidden-size ${HIDDEN_SIZE} \
       --num-attention-heads 32 \
       --group-query-attention \
       --num-query-groups 8 \
       --seq-length ${SEQ_LEN} \
       --max-position-embeddings ${SEQ_LEN} \
       --tokenizer-type GPTSentencePieceTokenizer \
       --micro-batch-size 4 \
       --global-batch-size 8 \
       --attention-dropout 0.0 \
       --hidden-dropout 0.0 \
       --disable-bias-linear \
       --normalization RMSNorm \
       --bf16 \
       --use-mcore-models \
       --spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec"
torchrun --nproc_per_node 8 ../../pretrain_hybrid.py ${options}
)";

TEST(MegatronHybrids, ItsOwnExampleIsRead) {
  const schedules::Scenario s = imported("megatron", kExample, {"cluster.node=dgx-h100", "model.vocab=256000"});
  EXPECT_EQ(s.model.layers, 56);
  EXPECT_EQ(layers_with(s.model, schedules::Mixer::mamba), 24);
  EXPECT_EQ(layers_with(s.model, schedules::Mixer::attention), 4);
  EXPECT_EQ(s.model.mamba.heads, 128);  // twice 4096 over heads of 64
  EXPECT_EQ(s.model.mamba.groups, 8);
  EXPECT_EQ(s.model.mamba.chunk, 128);
  EXPECT_EQ(layer_style(s.model).positions, schedules::Positions::none);
  EXPECT_EQ(s.parallelism.tensor, 4U);
}

TEST(MegatronHybrids, WhatIsNotReadIsRefused) {
  const auto said = [](const std::string& flags) {
    return complaint([&] {
      imported(
          "megatron",
          "torchrun --nproc_per_node 8 pretrain_mamba.py --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
          "--max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 8 --bf16 --num-layers 4 " +
              flags,
          {"cluster.node=dgx-h100", "model.vocab=32000"});
    });
  };
  EXPECT_THAT(said("--spec my.layers my_spec"), HasSubstr("--spec: found 'my.layers my_spec', expected megatron.core"));
  EXPECT_THAT(said("--is-hybrid-model"), HasSubstr("--is-hybrid-model: found 'true', expected it beside"));
  EXPECT_THAT(said("--hybrid-override-pattern 'M-|M-'"),
              HasSubstr("--hybrid-override-pattern: found 'M-|M-', expected letters M, *, - and E alone"));
}

}  // namespace
}  // namespace stepcast::language
