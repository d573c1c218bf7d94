#!/usr/bin/env bash
# Written by stepcast emit for Megatron-LM (github.com/NVIDIA/Megatron-LM core_v0.14.0 @23e00ed).
# Behind each line: the key of the scenario that it stands for.
# The forecast was made with the software megatron-lm-2022, not megatron-core: another framework's kernels and overlaps take other times.
# Read it back: stepcast import megatron FILE --set cluster.node=dgx-a100-80gb --set software.base=megatron-lm-2022 --set software.tensor_overlap=backward
FLAGS=(
  --tensor-model-parallel-size 8                    # parallelism.tensor
  --pipeline-model-parallel-size 8                  # parallelism.pipeline
  --context-parallel-size 1                         # parallelism.context
  --expert-model-parallel-size 1                    # parallelism.expert
  --sequence-parallel                               # parallelism.sequence
  --num-virtual-stages-per-pipeline-rank 3          # pipeline.virtual_stages
  --no-overlap-p2p-communication                    # software.pipeline_overlap
  --micro-batch-size 1                              # training.micro_batch
  --global-batch-size 64                            # training.global_batch
  --seq-length 2048                                 # training.sequence
  --fp16                                            # training.precision
  --optimizer adam                                  # training.optimizer
  --attention-backend unfused                       # training.attention
  --recompute-granularity selective                 # recompute
  --accumulate-allreduce-grads-in-fp32              # data_parallel.gradient_precision
  --num-layers 96                                   # model.layers
  --hidden-size 12288                               # model.hidden
  --ffn-hidden-size 49152                           # model.ffn
  --num-attention-heads 96                          # model.heads
  --kv-channels 128                                 # model.head_width
  --max-position-embeddings 2048                    # at least training.sequence
  --position-embedding-type learned_absolute        # model.position_encoding
  --normalization LayerNorm                         # model.family
  --attention-dropout 0.1                           # model.dropout
  --hidden-dropout 0.1                              # model.dropout
  --make-vocab-size-divisible-by 128                # software.vocabulary_multiple
  --vocab-size 51199                                # model.vocab: NullTokenizer adds one
  --tokenizer-type NullTokenizer                    # model.vocab
  --mock-data                                       # to fill in: --data-path, --tokenizer-type and its files
  --train-iters 100                                 # to fill in
  --lr 1e-4                                         # to fill in
)
CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes 8 --nproc-per-node 8 --node-rank "$NODE_RANK" --master-addr "$MASTER_ADDR" --master-port 29500 pretrain_gpt.py "${FLAGS[@]}"
