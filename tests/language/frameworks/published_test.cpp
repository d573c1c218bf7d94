// Published configurations become the scenarios that their authors mean. What of each decides the plan is typed here
// from the file that is named; what decides nothing of it (learning rates, paths) is left out or cut short.

#include "tests/language/frameworks/published.h"

#include <gtest/gtest.h>

#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

// github.com/NVIDIA/Megatron-LM core_v0.14.0 @23e00ed, examples/gpt3/train_gpt3_175b_distributed.sh
TEST(Published, Gpt3Of175BillionParametersInMegatron) {
  const auto s = imported("megatron", R"(#!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=1
DATA_PATH=$5 #<Specify path and file prefix>
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --rampup-batch-size 16 16 5859375
    --fp16
    --lr 6.0e-5
)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]} \
    ${MODEL_PARALLEL_ARGS[@]} --data-path $DATA_PATH
)",
                          {"cluster.node=dgx-a100-80gb", "cluster.gpus=1024", "model.vocab=50257"});
  EXPECT_EQ(said_of(s, kPlan), "8 16 8 1 1536 fp16 0 none");
  // The file of configs/models/ has the same shape; its vocabulary is the padded one.
  const schedules::Scenario known = small_with("{model: gpt3-175b, cluster: {nodes: 1}}");
  for (const char* key : {"model.family", "model.layers", "model.hidden", "model.heads", "model.ffn",
                          "model.activation", "model.position_encoding", "model.tied_head", "model.biases"})
    EXPECT_EQ(text_of(words_of(s), key), text_of(words_of(known), key)) << key;
}

// The same repository and commit, examples/llama/train_llama3_8b_h100_fp8.sh: its branch of fp8 and of made-up data.
constexpr const char* kLlama3Fp8 = R"(
TOKENIZER_ARG=${3:-"MOCK"} # Path to tokenizer model, or "MOCK"
DATA_ARG=${4:-"MOCK"}
GPUS_PER_NODE=8
NUM_NODES=1
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DTYPE="fp8"
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
MODEL_ARGS=(
    --use-mcore-models --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
    --group-query-attention --num-query-groups 8 --kv-channels 128 --seq-length 8192 --max-position-embeddings 8192
    --position-embedding-type rope --rotary-base 1000000 --attention-dropout 0.0 --hidden-dropout 0.0 --swiglu
    --attention-backend fused --apply-layernorm-1p --untie-embeddings-and-output-weights --disable-bias-linear
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 128
    --bf16
    --grad-reduce-in-bf16
    --cross-entropy-loss-fusion
)
DTYPE_ARGS=()
if [[ "$DTYPE" == "fp8" ]]; then
    DTYPE_ARGS+=(
        "--fp8-format hybrid"
        "--fp8-amax-history-len 1024"
        "--fp8-param-gather"
    )
fi
DDP_ARGS=( --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather )
TRAINING_ARGS+=("${DDP_ARGS[@]}")
DATA_ARGS_LIST=()
if [[ "$TOKENIZER_ARG" == "MOCK" ]] || [[ "$DATA_ARG" == "MOCK" ]] || [[ -z "$TOKENIZER_ARG" ]]; then
    DATA_ARGS_LIST+=( "--mock-data" "--tokenizer-type NullTokenizer" "--vocab-size 128256" "--split '99,1,0'" )
else
    DATA_ARGS_LIST+=( "--data-path $DATA_ARG" "--tokenizer-type HuggingFaceTokenizer" "--vocab-size 128256" )
fi
if [ ! -f "pretrain_gpt.py" ]; then
    exit 1
fi
torchrun ${DISTRIBUTED_ARGS[@]} "pretrain_gpt.py" ${MODEL_ARGS[@]} ${TRAINING_ARGS[@]} ${DTYPE_ARGS[@]} \
    --context-parallel-size 1 --tensor-model-parallel-size 1 --sequence-parallel ${DATA_ARGS_LIST[@]}
)";

TEST(Published, Llama3Of8BillionParametersInMegatronAndFp8) {
  const auto s = imported("megatron", kLlama3Fp8);
  EXPECT_EQ(said_of(s, kPlan), "1 1 8 1 128 fp8 1 none");
  EXPECT_EQ(said_of(s, {"cluster.gpus", "model.kv_heads", "model.vocab", "training.eight_bit_parameters",
                        "training.scaling", "data_parallel.overlap", "data_parallel.gradient_precision",
                        "parallelism.sequence", "software.fused_cross_entropy"}),
            "8 8 128257 true delayed true bf16 false in_regions");
}

// The same repository and commit, examples/mixtral/train_mixtral_8x7b_distributed.sh
TEST(Published, MixtralInMegatron) {
  const auto s = imported(
      "megatron",
      "torchrun --nproc_per_node 8 --nnodes ${SLURM_NNODES:-\"8\"} pretrain_gpt.py --use-mcore-models "
      "--disable-bias-linear --seq-length 4096 --max-position-embeddings 32768 --num-layers 32 --hidden-size 4096 "
      "--ffn-hidden-size 14336 --num-attention-heads 32 --init-method-std 0.01 --attention-dropout 0.0 "
      "--hidden-dropout 0.0 --normalization RMSNorm --position-embedding-type rope --swiglu "
      "--untie-embeddings-and-output-weights --group-query-attention --num-query-groups 8 --no-masked-softmax-fusion "
      "--no-position-embedding --rotary-base 1000000 --num-experts 8 --moe-router-topk 2 "
      "--moe-router-load-balancing-type aux_loss --moe-aux-loss-coeff 1e-2 --moe-grouped-gemm "
      "--moe-token-dispatcher-type alltoall --overlap-param-gather --overlap-grad-reduce --micro-batch-size 1 "
      "--global-batch-size 256 --bf16 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 "
      "--expert-model-parallel-size 8 --use-distributed-optimizer --sequence-parallel",
      {"cluster.node=dgx-h100", "model.vocab=32000"});
  EXPECT_EQ(said_of(s, kPlan), "1 4 16 1 256 bf16 1 none");
  const schedules::Scenario known = small_with("{model: mixtral-8x7b, cluster: {nodes: 1}}");
  for (const auto& [key, word] : words_of(known)) {
    if (!key.starts_with("model.")) continue;
    EXPECT_EQ(text_of(words_of(s), key), word.text) << key;
  }
}

// github.com/NVIDIA/Megatron-LM @2eea621, examples/pretrain_gpt_distributed_with_mp.sh
TEST(Published, Gpt2Of345MillionParametersInAnOlderMegatron) {
  const auto s = imported("megatron", R"(#! /bin/bash
GPUS_PER_NODE=8
MASTER_ADDR=localhost
NNODES=1
NODE_RANK=0
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))
DATA_PATH=<Specify path and file prefix>_text_document
DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --node_rank $NODE_RANK --master_addr $MASTER_ADDR"
python -m torch.distributed.launch $DISTRIBUTED_ARGS \
       pretrain_gpt.py \
       --tensor-model-parallel-size 2 \
       --pipeline-model-parallel-size 2 \
       --sequence-parallel \
       --num-layers 24 \
       --hidden-size 1024 \
       --num-attention-heads 16 \
       --micro-batch-size 4 \
       --global-batch-size 16 \
       --seq-length 1024 \
       --max-position-embeddings 1024 \
       --data-path $DATA_PATH \
       --vocab-file gpt2-vocab.json \
       --data-impl mmap \
       --lr 0.00015 \
       --activations-checkpoint-method uniform \
       --eval-iters 10 \
       --fp16
)",
                          {"cluster.node=dgx-a100-80gb", "model.vocab=50257"});
  EXPECT_EQ(said_of(s, kPlan), "2 2 2 4 16 fp16 0 full");
  EXPECT_EQ(said_of(s, {"cluster.gpus", "parallelism.sequence", "model.ffn"}), "8 true 4096");
}

// The same repository @d086a2e, tests/functional_tests/test_cases/gpt/gpt3_15b_8t_release/model_config.yaml, whose
// entries are the flags and their values.
TEST(Published, The15BillionParametersOfMegatronsReleaseTest) {
  const auto s = imported(
      "megatron",
      "torchrun pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 1 "
      "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --use-mcore-models --sequence-parallel "
      "--disable-bias-linear --micro-batch-size 4 --rampup-batch-size '[384 384 97656250]' --global-batch-size 1152 "
      "--manual-gc --transformer-impl transformer_engine --tokenizer-type GPTSentencePieceTokenizer "
      "--apply-layernorm-1p --untie-embeddings-and-output-weights --position-embedding-type rope --rotary-percent 0.5 "
      "--squared-relu --num-layers 32 --hidden-size 6144 --num-attention-heads 48 --group-query-attention "
      "--num-query-groups 8 --seq-length 4096 --max-position-embeddings 4096 --attention-dropout 0.0 --hidden-dropout "
      "0.0 --decoupled-lr 5.0e-4 --lr-decay-style cosine --init-method-std 0.0134 --bf16",
      {"cluster.node=dgx-h100", "cluster.gpus=256", "model.vocab=256000"});
  EXPECT_EQ(said_of(s, kPlan), "8 1 32 4 1152 bf16 1 none");
  EXPECT_EQ(said_of(s, {"model.activation", "model.kv_heads", "model.position_encoding", "model.biases"}),
            "squared-relu 8 rotary false");
}

/// What the two files below have in common.
const std::string kMixtralRelease =
    "torchrun pretrain_gpt.py --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather "
    "--use-mcore-models --sequence-parallel --use-flash-attn --disable-bias-linear --micro-batch-size 1 "
    "--global-batch-size 256 --transformer-impl transformer_engine --tokenizer-type Llama2Tokenizer "
    "--untie-embeddings-and-output-weights --position-embedding-type rope --rotary-percent 1.0 --normalization RMSNorm "
    "--swiglu --group-query-attention --num-query-groups 8 --seq-length 4096 --max-position-embeddings 4096 "
    "--make-vocab-size-divisible-by 128 --attention-dropout 0.0 --hidden-dropout 0.0 --lr 1.2e-5 "
    "--expert-model-parallel-size 8 --num-experts 8 --moe-router-load-balancing-type aux_loss --moe-router-topk 2 "
    "--moe-grouped-gemm --moe-aux-loss-coeff 1e-2 --moe-token-dispatcher-type alltoall --bf16 ";

// The same repository, tests/functional_tests/test_cases/mixtral: mixtral_8x7b_tp1pp4ep8vpp8_release (@cc49525) and
// mixtral_8x22b_tp2pp8ep8vpp1_release (@d229a29). The second leaves out --expert-tensor-parallel-size, which is then
// that of the tensor ranks, and needs twice the ranks of a stage that it has without.
TEST(Published, MixtralsOfMegatronsReleaseTests) {
  const std::vector<std::string> on_64{"cluster.node=dgx-h100", "cluster.gpus=64", "model.vocab=32000"};
  const auto small = imported("megatron",
                              kMixtralRelease +
                                  "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 "
                                  "--num-layers-per-virtual-pipeline-stage 1 --num-layers 32 --hidden-size 4096 "
                                  "--ffn-hidden-size 14336 --num-attention-heads 32",
                              on_64);
  EXPECT_EQ(said_of(small, kPlan), "1 4 16 1 256 bf16 1 none");
  EXPECT_EQ(said_of(small, {"pipeline.virtual_stages", "parallelism.expert"}), "8 8");
  const std::string large = kMixtralRelease +
                            "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 8 --num-layers 56 "
                            "--hidden-size 6144 --ffn-hidden-size 16384 --num-attention-heads 48 ";
  const std::vector<std::string> on_128{"cluster.node=dgx-h100", "cluster.gpus=128", "model.vocab=32000"};
  EXPECT_EQ(said_of(imported("megatron", large, on_128), {"parallelism.expert", "parallelism.expert_tensor"}), "8 2");
  EXPECT_EQ(said_of(imported("megatron", large + "--expert-tensor-parallel-size 1", on_128), kPlan),
            "2 8 8 1 256 bf16 1 none");
}

// github.com/yanring/Megatron-MoE-ModelZoo @e865051, best_practice/qwen3: 94 layers of Qwen3-235B on 8 stages, with the
// embedding and the head counted as a layer each, 96: 12 on a stage, 3 in a chunk.
TEST(Published, LayersOfAChunkCountTheEmbeddingAndTheHeadWhereTheyCountAsLayers) {
  const std::string line =
      "torchrun --nproc_per_node 8 --nnodes 32 pretrain_gpt.py --num-layers 94 --hidden-size 4096 "
      "--ffn-hidden-size 12288 --num-attention-heads 64 --seq-length 4096 --max-position-embeddings 40960 "
      "--micro-batch-size 1 --global-batch-size 2048 --bf16 --vocab-size 151936 --pipeline-model-parallel-size 8 ";
  const std::string embedding = "--account-for-embedding-in-pipeline-split ",
                    loss = "--account-for-loss-in-pipeline-split ", chunk = "--num-layers-per-virtual-pipeline-stage ";
  const auto s = imported("megatron", line + embedding + loss + chunk + "3");
  EXPECT_EQ(said_of(s, {"pipeline.schedule", "pipeline.virtual_stages", "pipeline.embedding_as_layer",
                        "pipeline.head_as_layer"}),
            "interleaved-1f1b 4 true true");
  for (const std::string& of_95 : {embedding, loss}) {
    std::string given = line;
    given.append(of_95).append(chunk).append("3");
    EXPECT_NE(complaint([&] { imported("megatron", given); }).find("--num-layers-per-virtual"), std::string::npos);
  }
}

// The same repository's best_practice/deepseek-v3/run_deepseek_v3_h100.sh has moe and layernorm among its modules.
TEST(Published, ModulesOfExpertsAndNormsThatMegatronRecomputes) {
  const std::string flags =
      kMixtralRelease +
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --num-layers 32 --hidden-size 4096 "
      "--ffn-hidden-size 14336 --num-attention-heads 32 --moe-shared-expert-intermediate-size 4096 "
      "--recompute-granularity selective --recompute-modules ";
  const std::vector<std::string> on_64{"cluster.node=dgx-h100", "cluster.gpus=64", "model.vocab=32000"};
  EXPECT_EQ(said_of(imported("megatron", flags + "moe mlp layernorm", on_64), {"recompute.modules"}),
            "[mlp, layernorm, moe]");
  EXPECT_EQ(said_of(imported("megatron", flags + "moe_act shared_experts", on_64), {"recompute.modules"}),
            "[moe_act, shared_experts]");
}

// The same repository, tests/functional_tests/test_cases/gpt/gpt3_7b_tp1_pp4_memory_speed (@000a717), but for
// --deterministic-mode, which is refused.
TEST(Published, SevenBillionParametersOfMegatronsSpeedTest) {
  const std::string flags =
      "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention "
      "--num-query-groups 8 --untie-embeddings-and-output-weights --log-throughput --micro-batch-size 1 "
      "--global-batch-size 8 --seq-length 8192 --max-position-embeddings 8192 --timing-log-level 0 --tokenizer-type "
      "NullTokenizer --vocab-size 131073 --mock-data --transformer-impl transformer_engine "
      "--tensor-model-parallel-size 1 "
      "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 1 --use-distributed-optimizer "
      "--overlap-grad-reduce --overlap-param-gather --no-gradient-accumulation-fusion --use-mcore-models --ckpt-format "
      "torch_dist --bf16 --async-save ";
  const std::vector<std::string> on_8{"cluster.node=dgx-h100", "cluster.gpus=8"};
  const auto s = imported("megatron", flags, on_8);
  EXPECT_EQ(said_of(s, kPlan), "1 4 2 1 8 bf16 1 none");
  EXPECT_EQ(said_of(s, {"pipeline.virtual_stages", "model.vocab"}), "8 131074");
  EXPECT_NE(complaint([&] { imported("megatron", flags + "--deterministic-mode", on_8); }).find("--deterministic-mode"),
            std::string::npos);
}

// Instances of the distributed optimizer share out the data and context ranks: 64 GPUs of 2 tensor ranks, 2 stages and
// 2 context ranks leave 16, of which each of 2 instances has 8 (docs/user-guide/features/dist_optimizer.md).
TEST(Published, InstancesOfMegatronsDistributedOptimizer) {
  const std::string flags =
      "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads "
      "32 "
      "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --bf16 "
      "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --context-parallel-size 2 --vocab-size 51200 "
      "--tokenizer-type NullTokenizer --use-distributed-optimizer --num-distributed-optimizer-instances ";
  const std::vector<std::string> node{"cluster.node=dgx-h100"};
  EXPECT_EQ(said_of(imported("megatron", flags + "2", node), {"data_parallel.zero", "data_parallel.shard_group"}),
            "1 8");
  EXPECT_FALSE(imported("megatron", flags + "1", node).data_parallel.shard_group);
  EXPECT_THROW(imported("megatron", flags + "3", node), InputError);
}

// github.com/huggingface/nanotron @2411b02, examples/config_tiny_llama.yaml
TEST(Published, TheTinyLlamaOfNanotron) {
  const auto s = imported("nanotron", R"(
checkpoints: {checkpoint_interval: 1000, checkpoints_path: checkpoints, resume_checkpoint_path: null}
data_stages:
- data: {dataset: null, num_loading_workers: 1, seed: 42}
  name: Stable Training Stage
  start_training_step: 1
general: {project: debug, run: tiny_llama_%date_%jobid, seed: 42, step: null}
lighteval: null
model:
  ddp_bucket_cap_mb: 25
  dtype: bfloat16
  init_method: {std: 0.025}
  make_vocab_size_divisible_by: 1
  model_config:
    hidden_act: silu
    hidden_size: 2048
    intermediate_size: 11008
    is_llama_config: true
    max_position_embeddings: 128256
    num_attention_heads: 16
    num_hidden_layers: 28
    num_key_value_heads: 2
    rms_norm_eps: 1.0e-05
    rope_scaling: null
    tie_word_embeddings: true
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  optimizer_factory: {adam_beta1: 0.9, name: adamW, torch_adam_is_fused: true}
  weight_decay: 0.01
  zero_stage: 0
parallelism:
  dp: 4
  expert_parallel_size: 1
  pp: 1
  pp_engine: 1f1b
  tp: 2
  tp_linear_async_communication: true
  tp_mode: REDUCE_SCATTER
tokens: {batch_accumulation_per_replica: 1, micro_batch_size: 3, sequence_length: 4096, train_steps: 2000}
)");
  EXPECT_EQ(said_of(s, kPlan), "2 1 4 3 12 bf16 0 none");
  EXPECT_EQ(said_of(s, {"cluster.gpus", "parallelism.sequence", "software.tensor_overlap", "model.tied_head",
                        "data_parallel.bucket", "data_parallel.gradient_precision"}),
            "8 true backward true 52428800 B fp32");
  EXPECT_TRUE(s.software.gather_inputs_again);
}

// github.com/deepspeedai/DeepSpeed @edaa721, tests/model/BingBertSquad/deepspeed_bsz24_fp16_zero2_config.json and
// tests/torch_compile/ds_config_z3.json
TEST(Published, ConfigurationsOfDeepSpeed) {
  const std::vector<std::string> more{"cluster.node=dgx-h100", "cluster.gpus=8", "model=llama3-8b",
                                      "training.sequence=4096"};
  EXPECT_EQ(said_of(imported("deepspeed", R"({
  "train_batch_size": 24, "train_micro_batch_size_per_gpu": 3, "steps_per_print": 1,
  "optimizer": {"type": "Adam", "params": {"lr": 3e-5, "weight_decay": 0.0, "bias_correction": false}},
  "gradient_clipping": 1.0, "fp16": {"enabled": true}, "zero_optimization": {"stage": 2}})",
                             more),
                    kPlan),
            "1 1 8 3 24 fp16 2 none");
  const auto s = imported("deepspeed", R"({
  "train_batch_size": 8, "optimizer": {"type": "Adam", "params": {"betas": [0.8, 0.999]}}, "bf16": {"enabled": true},
  "scheduler": {"type": "WarmupLR"}, "wall_clock_breakdown": false,
  "zero_optimization": {"stage": 3, "reduce_scatter": true, "overlap_comm": false, "contiguous_gradients": false}})",
                          more);
  EXPECT_EQ(said_of(s, kPlan), "1 1 8 1 8 bf16 3 none");
  EXPECT_EQ(said_of(s, {"data_parallel.overlap"}), "false");
  // deepspeed.ai/docs/config-json, activation checkpointing
  EXPECT_TRUE(imported("deepspeed",
                       R"({"train_batch_size": 8, "activation_checkpointing": {"partition_activations": true,
                       "cpu_checkpointing": false, "contiguous_memory_optimization": false}})",
                       more)
                  .software.partition_activations);
  // github.com/bigscience-workshop/bigscience, train/tr11-176B-ml: what tr11-176B-ml.slurm (@003b250, BLOOM's) and
  // smaller_models/tr11f-6B3-ml.slurm (@08f504f) write for DeepSpeed, beside flags for pipeline and tensor ranks.
  const auto bloom =
      imported("deepspeed", R"({
  "train_micro_batch_size_per_gpu": 2, "train_batch_size": 2048, "gradient_clipping": 1.0,
  "zero_optimization": {"stage": 0}, "bf16": {"enabled": true}, "steps_per_print": 2000, "wall_clock_breakdown": false})",
               {"cluster.node=jean-zay-a100", "cluster.gpus=384", "model=bloom-176b", "training.sequence=2048",
                "parallelism.tensor=4", "parallelism.pipeline=12", "parallelism.data=8"});
  EXPECT_EQ(said_of(bloom, kPlan), "4 12 8 2 2048 bf16 0 none");
  const auto smaller =
      imported("deepspeed", R"({
  "train_micro_batch_size_per_gpu": 1, "train_batch_size": 512, "gradient_clipping": 1.0,
  "zero_optimization": {"stage": 0},
  "fp16": {"enabled": true, "loss_scale": 0, "loss_scale_window": 500, "hysteresis": 2, "min_loss_scale": 1,
    "initial_scale_power": 12},
  "steps_per_print": 2000, "wall_clock_breakdown": false})",
               {"cluster.node=dgx-1-v100-32gb", "cluster.gpus=8", "model=llama2-7b", "training.sequence=2048"});
  EXPECT_EQ(said_of(smaller, kPlan), "1 1 8 1 512 fp16 0 none");
  // The same repository as the first two, @5644ae3, examples/sdma_allgather/ds_config_zero3_nosdma.json
  const auto overlapped = imported("deepspeed", R"({
  "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "steps_per_print": 10,
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "betas": [0.9, 0.999]}}, "gradient_clipping": 1.0,
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 3, "allgather_partitions": true, "allgather_bucket_size": 5e7, "overlap_comm": true,
    "reduce_scatter": true, "reduce_bucket_size": 5e7, "contiguous_gradients": true, "stage3_max_live_parameters": 1e9,
    "stage3_prefetch_bucket_size": 5e7, "sub_group_size": 1e12, "sdma_allgather": false},
  "wall_clock_breakdown": false})",
                                   more);
  EXPECT_EQ(said_of(overlapped, kPlan), "1 1 8 1 8 bf16 3 none");
  EXPECT_EQ(said_of(overlapped, {"data_parallel.overlap", "data_parallel.bucket"}), "true 100000000 B");
}

// github.com/NVIDIA/NeMo-Framework-Launcher @6c9e5c0, launcher_scripts/conf/training/gpt3/175b.yaml
TEST(Published, Gpt3Of175BillionParametersInNemo) {
  const auto s = imported("nemo", R"(
run:
  name: gpt3_175b
  results_dir: ${base_results_dir}/${.name}
trainer:
  num_nodes: 128
  devices: 8
  accelerator: gpu
  precision: bf16
  logger: False # logger provided by exp_manager
  max_epochs: null
  accumulate_grad_batches: 1
  gradient_clip_val: 1.0
exp_manager:
  checkpoint_callback_params:
    model_parallel_size: ${multiply:${training.model.tensor_model_parallel_size}, ${training.model.pipeline_model_parallel_size}}
model:
  micro_batch_size: 1
  global_batch_size: 2048
  rampup_batch_size: null
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 8
  virtual_pipeline_model_parallel_size: 12 # interleaved pipeline, set to maximum
  encoder_seq_length: 2048
  max_position_embeddings: 2048
  num_layers: 96
  hidden_size: 12288
  ffn_hidden_size: ${multiply:4, ${.hidden_size}}  # Transformer FFN hidden size. 4 * hidden_size.
  num_attention_heads: 96
  hidden_dropout: 0.0
  attention_dropout: 0.0
  kv_channels: null
  apply_query_key_layer_scaling: True
  make_vocab_size_divisible_by: 128
  gradient_accumulation_fusion: True
  bias_activation_fusion: True
  bias_dropout_add_fusion: True
  masked_softmax_fusion: True
  activations_checkpoint_granularity: null
  sequence_parallel: True
  overlap_p2p_comm: False
  batch_p2p_comm: True
  num_query_groups: null
  tokenizer: {library: 'megatron', type: 'GPT2BPETokenizer', vocab_file: '${data_dir}/bpe/vocab.json'}
  fp32_residual_connection: False
  megatron_amp_O2: True
  mcore_gpt: True
  transformer_engine: False
  fp8: False
  fp8_hybrid: True
  ub_tp_comm_overlap: False
  optim:
    name: distributed_fused_adam
    bucket_cap_mb: 220
    overlap_grad_sync: True
    overlap_param_sync: true
    lr: 0.9e-4
    betas:
    - 0.9
    - 0.95
  data:
    seq_length: 2048
    data_prefix:
      - .0333
      - ${data_dir}/my-gpt3_00_text_document
)",
                          {"cluster.node=dgx-a100-80gb", "model.vocab=50257"});
  EXPECT_EQ(said_of(s, kPlan), "4 8 32 1 2048 bf16 1 none");
  EXPECT_EQ(said_of(s, {"cluster.gpus", "pipeline.virtual_stages", "model.ffn", "parallelism.sequence",
                        "data_parallel.bucket", "training.attention", "software.pipeline_overlap"}),
            "1024 12 49152 true 230686720 B unfused false");
}

// The same repository @0446d2c, launcher_scripts/conf/training/llama/llama2_70b.yaml, whose keys are given here as the
// overrides of a command line.
TEST(Published, Llama2Of70BillionParametersInNemo) {
  const auto s = imported(
      "nemo",
      "HYDRA_FULL_ERROR=1 python megatron_gpt_pretraining.py trainer.num_nodes=128 trainer.devices=8 "
      "trainer.precision=bf16 "
      "++model.mcore_gpt=true model.micro_batch_size=1 model.global_batch_size=2048 model.rampup_batch_size=null "
      "model.tensor_model_parallel_size=4 model.pipeline_model_parallel_size=4 "
      "model.virtual_pipeline_model_parallel_size=20 model.encoder_seq_length=4096 model.max_position_embeddings=4096 "
      "model.num_layers=80 model.hidden_size=8192 model.ffn_hidden_size=28672 model.num_attention_heads=64 "
      "model.num_query_groups=8 model.hidden_dropout=0.0 model.attention_dropout=0.0 +model.ffn_dropout=0.0 "
      "model.normalization=rmsnorm model.bias=false model.activation=fast-swiglu model.transformer_block_type=pre_ln "
      "model.position_embedding_type=rope model.attention_type=multihead "
      "model.share_embeddings_and_output_weights=false "
      "model.gradient_accumulation_fusion=true model.bias_activation_fusion=false model.bias_dropout_add_fusion=false "
      "model.masked_softmax_fusion=true model.activations_checkpoint_method=block "
      "model.activations_checkpoint_num_layers=0 model.sequence_parallel=true model.transformer_engine=true "
      "model.fp8=false "
      "model.ub_tp_comm_overlap=false model.use_flash_attention=true model.overlap_p2p_comm=true "
      "model.optim.name=distributed_fused_adam model.optim.bucket_cap_mb=125 model.optim.overlap_grad_sync=true "
      "'model.optim.betas=[0.9,0.95]'",
      {"cluster.node=dgx-h100", "model.vocab=32000"});
  EXPECT_EQ(said_of(s, kPlan), "4 4 64 1 2048 bf16 1 none");
  EXPECT_EQ(said_of(s, {"pipeline.virtual_stages", "training.attention", "software.fused_bias_gelu"}),
            "20 flash false");
  const schedules::Scenario known = small_with("{model: llama2-70b, cluster: {nodes: 1}}");
  for (const auto& [key, word] : words_of(known)) {
    if (!key.starts_with("model.")) continue;
    EXPECT_EQ(text_of(words_of(s), key), word.text) << key;
  }
}

// github.com/NVIDIA-NeMo/Megatron-Bridge @f03d52f,
// examples/recipes/llama/conf/llama3_8b_pretrain_override_example_megatron_fsdp.yaml: what lies over the recipe's
// model.
TEST(Published, OverridesForMegatronFsdpInMegatronBridge) {
  const auto s = imported("megatron-bridge", R"(
# Example override file
model:
  seq_length: 4096
  init_model_with_meta_device: true
train:
  train_iters: 20
  global_batch_size: 8
  micro_batch_size: 1
  eval_iters: 0
optimizer:
  lr: 0.00025
  min_lr: 0.000025
scheduler:
  lr_warmup_iters: 10
checkpoint:
  save: null
dist:
  use_megatron_fsdp: true
  use_torch_fsdp2: false
logger:
  log_interval: 1
dataset:
  sequence_length: 4096
rng:
  seed: 42
ddp:
  grad_reduce_in_fp32: true
  data_parallel_sharding_strategy: "optim_grads_params" # for Megatron FSDP ZeRO-3 like sharding
profiling:
  _target_: megatron.bridge.training.config.ProfilingConfig
  profile_ranks: [0, 1]
)",
                          {"cluster.node=dgx-h100", "cluster.gpus=8", "model=llama3-8b"});
  EXPECT_EQ(said_of(s, kPlan), "1 1 8 1 8 bf16 3 none");
  EXPECT_EQ(said_of(s, {"training.sequence", "data_parallel.gradient_precision", "model.layers"}), "4096 fp32 32");
}

// The same repository @a9497c6, scripts/performance/dryrun_configs/llama/llama3_70b_sft_gb300_fp8_mx_v1.yaml: a whole
// configuration as Megatron Bridge prints it, but for what is null and what decides nothing of the plan.
constexpr const char* kBridge70b = R"(
_target_: megatron.bridge.training.config.ConfigContainer
comm_overlap: {_target_: megatron.bridge.training.comm_overlap.CommOverlapConfig, bucket_size: null, tp_comm_overlap: false}
ddp:
  data_parallel_sharding_strategy: no_shard
  grad_reduce_in_fp32: false
  num_distributed_optimizer_instances: 1
  overlap_grad_reduce: false
  overlap_param_gather: false
  use_distributed_optimizer: true
  use_megatron_fsdp: false
dist: {use_megatron_fsdp: false, use_torch_fsdp2: false, use_tp_pp_dp_mapping: false}
mixed_precision:
  bf16: true
  first_last_layers_bf16: false
  fp16: false
  fp32: false
  fp4: null
  fp8: e4m3
  fp8_param_gather: true
  fp8_recipe: mxfp8
  grad_reduce_in_fp32: true
  num_layers_at_end_in_bf16: 0
  params_dtype:
    _call_: false
    _target_: torch.bfloat16
model:
  _target_: megatron.bridge.models.gpt_provider.GPTModelProvider
  activation_func:
    _call_: false
    _target_: torch.nn.functional.silu
  add_bias_linear: false
  attention_dropout: 0.0
  bias_activation_fusion: true
  cross_entropy_loss_fusion: true
  cuda_graph_impl: GRAPHS
  ffn_hidden_size: 28672
  gated_linear_unit: true
  hidden_dropout: 0.0
  hidden_size: 8192
  kv_channels: 128
  make_vocab_size_divisible_by: 128
  moe_layer_freq: 1
  moe_router_topk: 2
  moe_token_dispatcher_type: allgather
  multi_latent_attention: false
  normalization: RMSNorm
  num_attention_heads: 64
  num_layers: 80
  num_layers_at_end_in_bf16: 1
  num_query_groups: 8
  overlap_p2p_comm: false
  pipeline_model_parallel_size: 2
  position_embedding_type: rope
  seq_length: 4096
  sequence_parallel: false
  share_embeddings_and_output_weights: false
  should_pad_vocab: true
  tensor_model_parallel_size: 1
  virtual_pipeline_model_parallel_size: 20
  vocab_size: 128256
optimizer: {exp_avg_dtype: {_call_: false, _target_: torch.float32}, optimizer: adam, use_precision_aware_optimizer: false}
train: {global_batch_size: 32, micro_batch_size: 1, rampup_batch_size: null}
)";

TEST(Published, Llama3Of70BillionParametersInMegatronBridge) {
  const std::vector<std::string> on_32{"cluster.node=dgx-b200", "cluster.gpus=32"};
  std::string text = kBridge70b;
  const auto graphs = [&](const std::string& implementation) {
    std::string with = text;
    return with.replace(with.find("GRAPHS"), 6, implementation);
  };
  EXPECT_NE(complaint([&] { imported("megatron-bridge", graphs("transformer_engine"), on_32); })
                .find("model.cuda_graph_impl: found 'transformer_engine': changes the answer; give --set "
                      "software.cuda_graphs=layers"),
            std::string::npos);
  const auto s = imported("megatron-bridge", graphs("none"), on_32);
  EXPECT_EQ(said_of(s, kPlan), "1 2 16 1 32 mxfp8 1 none");
  EXPECT_EQ(said_of(s, {"pipeline.virtual_stages", "training.eight_bit_parameters", "data_parallel.overlap",
                        "data_parallel.gradient_precision", "software.pipeline_overlap"}),
            "20 true false fp32 false");
  const schedules::Scenario known = small_with("{model: llama3-70b, cluster: {nodes: 1}}");
  for (const auto& [key, word] : words_of(known)) {
    if (!key.starts_with("model.")) continue;
    EXPECT_EQ(text_of(words_of(s), key), word.text) << key;
  }
  // Its script takes words that lie over the file.
  const auto wider =
      imported("megatron-bridge",
               "torchrun --nproc-per-node=8 --nnodes=4 pretrain.py model.num_layers=8 model.hidden_size=1024 "
               "model.num_attention_heads=16 model.seq_length=1024 model.vocab_size=51200 "
               "train.global_batch_size=64 train.micro_batch_size=1 model.tensor_model_parallel_size=4 "
               "mixed_precision=bf16_with_fp8_current_scaling_mixed",
               {"cluster.node=dgx-h100"});
  EXPECT_EQ(said_of(wider, kPlan), "4 1 8 1 64 fp8 1 none");
  EXPECT_EQ(said_of(wider, {"training.scaling", "training.eight_bit_parameters", "training.bf16_layers_at_start"}),
            "current true 1");
}

// github.com/huggingface/transformers @00e12e7, tests/deepspeed/ds_config_zero2.json, with what fills in its "auto".
TEST(Published, ADeepSpeedFileThatTheTrainerFillsIn) {
  const auto s = imported("hf-trainer", R"(
cat > ds_config_zero2.json <<'EOT'
{
    "fp16": {"enabled": "auto", "loss_scale": 0, "loss_scale_window": 1000, "initial_scale_power": 16},
    "bf16": {"enabled": "auto"},
    "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": "auto", "warmup_num_steps": "auto"}},
    "zero_optimization": {
        "stage": 2,
        "offload_optimizer": {"device": "cpu", "pin_memory": true},
        "allgather_partitions": true,
        "allgather_bucket_size": 2e8,
        "overlap_comm": true,
        "reduce_scatter": true,
        "reduce_bucket_size": 2e8,
        "contiguous_gradients": true
    },
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "steps_per_print": 2000,
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "wall_clock_breakdown": false
}
EOT
deepspeed --num_gpus 8 run_clm.py --deepspeed ds_config_zero2.json --model_name_or_path openai-community/gpt2-xl \
    --block_size 1024 --fp16 --per_device_train_batch_size 4 --gradient_accumulation_steps 2
)");
  EXPECT_EQ(said_of(s, kPlan), "1 1 8 4 64 fp16 2 none");
  EXPECT_EQ(said_of(s, {"offload.optimizer", "data_parallel.bucket", "data_parallel.overlap"}),
            "host 400000000 B true");
}

// github.com/lm-sys/FastChat @51463c3, scripts/train_vicuna_13b.sh, and @14adfbb, scripts/train_vicuna_7b.sh
TEST(Published, VicunaInTheTrainer) {
  const auto s = imported("hf-trainer", R"(torchrun --nproc_per_node=8 --master_port=20001 fastchat/train/train_mem.py \
    --model_name_or_path ~/model_weights/llama-13b  \
    --data_path ~/datasets/sharegpt_20230422_clean_lang_split_identity.json \
    --bf16 True \
    --output_dir output13b \
    --num_train_epochs 3 \
    --per_device_train_batch_size 1 \
    --per_device_eval_batch_size 1 \
    --gradient_accumulation_steps 4 \
    --evaluation_strategy "steps" \
    --save_strategy "steps" \
    --learning_rate 2e-5 \
    --warmup_ratio 0.05 \
    --lr_scheduler_type "cosine" \
    --logging_steps 1 \
    --fsdp "full_shard auto_wrap" \
    --fsdp_transformer_layer_cls_to_wrap 'LlamaDecoderLayer' \
    --tf32 True \
    --model_max_length 2048 \
    --gradient_checkpointing True \
    --lazy_preprocess True
)",
                          {"cluster.node=dgx-a100-80gb", "model=llama2-13b"});
  EXPECT_EQ(said_of(s, kPlan), "1 1 8 1 32 bf16 3 full");
  EXPECT_EQ(said_of(s, {"software", "data_parallel.gradient_precision", "training.sequence"}),
            "pytorch-fsdp1 bf16 2048");
  const auto seven = imported(
      "hf-trainer",
      "torchrun --nproc_per_node=16 --master_port=20001 fastchat/train/train.py --model_name_or_path llama-7b --fp16 "
      "--output_dir output_7b --per_device_train_batch_size 2 --per_device_eval_batch_size 16 "
      "--gradient_accumulation_steps 16 --evaluation_strategy steps --eval_steps 1500 --weight_decay 0. "
      "--fsdp \"full_shard auto_wrap\" --fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer --model_max_length 2048 "
      "--gradient_checkpointing True --lazy_preprocess True",
      {"cluster.node=dgx-2", "model=llama2-7b"});
  EXPECT_EQ(said_of(seven, kPlan), "1 1 16 2 512 fp16 3 full");
}

// github.com/huggingface/accelerate @1a6af0b, examples/config_yaml_templates/fsdp.yaml, and
// github.com/huggingface/alignment-handbook @22dde3b, recipes/accelerate_configs/deepspeed_zero3.yaml, each with
// arguments behind it.
constexpr const char* kAccelerated = R"(
cat > fsdp.yaml <<'EOT'
distributed_type: FSDP
mixed_precision: 'bf16'
num_processes: 2
fsdp_config:
  fsdp_activation_checkpointing: false
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_cpu_ram_efficient_loading: true
  fsdp_forward_prefetch: false
  fsdp_offload_params: false
  fsdp_sharding_strategy: FULL_SHARD
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_sync_module_states: true
  fsdp_use_orig_params: true
EOT
cat > deepspeed_zero3.yaml <<'EOT'
compute_environment: LOCAL_MACHINE
debug: false
deepspeed_config:
  deepspeed_multinode_launcher: standard
  offload_optimizer_device: cpu
  offload_param_device: cpu
  zero3_init_flag: true
  zero3_save_16bit_model: true
  zero_stage: 3
distributed_type: DEEPSPEED
downcast_bf16: 'no'
machine_rank: 0
main_training_function: main
mixed_precision: bf16
num_machines: 1
num_processes: 1
rdzv_backend: static
same_network: true
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
EOT
accelerate launch --config_file FILE )";

TEST(Published, FilesOfAccelerate) {
  const std::vector<std::string> on{"cluster.node=dgx-h100"};
  const auto with = [&](const std::string& file, const std::string& arguments) {
    std::string script = kAccelerated;
    script.replace(script.rfind("FILE"), 4, file);
    return imported("hf-trainer", script + arguments, on);
  };
  const std::string arguments =
      "run_clm.py --model_name_or_path meta-llama/Meta-Llama-3-8B --block_size 4096 --per_device_train_batch_size 2";
  const auto sharded = with("fsdp.yaml", arguments);
  EXPECT_EQ(said_of(sharded, kPlan), "1 1 2 2 4 bf16 3 none");
  EXPECT_EQ(sharded.model.name, "llama3-8b");
  EXPECT_EQ(
      said_of(imported("hf-trainer",
                       "accelerate launch --use_fsdp --num_processes 8 --mixed_precision bf16 --fsdp_sharding_strategy "
                       "SHARD_GRAD_OP --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP " +
                           arguments,
                       on),
              kPlan),
      "1 1 8 2 16 bf16 2 none");
  // FSDP's version is 1 where nothing says it.
  const auto stack = [&](const std::string& flags) {
    return said_of(imported("hf-trainer", "accelerate launch --use_fsdp --num_processes 8 " + flags + arguments, on),
                   {"software"});
  };
  EXPECT_EQ(said_of(sharded, {"software"}), "pytorch-fsdp1");
  EXPECT_EQ(stack("--fsdp_version 2 --fsdp_reshard_after_forward true "), "pytorch-fsdp2");
  EXPECT_EQ(stack("--fsdp_version 1 --fsdp_sharding_strategy FULL_SHARD "), "pytorch-fsdp1");
  // A flag in front of the program counts more than the file.
  const auto offloaded = with("deepspeed_zero3.yaml", "--num_processes 8 " + arguments);
  EXPECT_EQ(said_of(offloaded, kPlan), "1 1 8 2 16 bf16 3 none");
  EXPECT_EQ(said_of(offloaded, {"offload.optimizer", "offload.parameters", "software"}),
            "host host huggingface-deepspeed");
}

}  // namespace
}  // namespace stepcast::language
