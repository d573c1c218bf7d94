#!/usr/bin/env bash
# Written by stepcast emit for Hugging Face Trainer (github.com/huggingface/transformers v4.57, accelerate v1.10).
# Behind each line: the key of the scenario that it stands for.
# The forecast was made with the software megatron-core, not huggingface-deepspeed: another framework's kernels and overlaps take other times.
# Read it back: stepcast import hf-trainer FILE --set cluster.node=dgx-a100-80gb --set software.base=megatron-core --set cluster.gpus=8
#   communication_data_type: data_parallel.gradient_precision
#   zero_optimization.stage: data_parallel.zero
#   zero_optimization.overlap_comm: data_parallel.overlap
#   train_batch_size: the Trainer's arguments
#   train_micro_batch_size_per_gpu: the Trainer's arguments
#   gradient_accumulation_steps: the Trainer's arguments
#   bf16.enabled: the Trainer's arguments
#   fp16.enabled: the Trainer's arguments
cat > ds_config.json <<'EOT'
{
  "communication_data_type": "fp32",
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true
  },
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto",
  "bf16": {
    "enabled": "auto"
  },
  "fp16": {
    "enabled": "auto"
  }
}
EOT
FLAGS=(
  --model_name_or_path meta-llama/Llama-2-7b-hf     # model
  --block_size 4096                                 # training.sequence
  --attn_implementation sdpa                        # training.attention
  --per_device_train_batch_size 2                   # training.micro_batch
  --gradient_accumulation_steps 4                   # training.global_batch
  --bf16 true                                       # training.precision
  --optim adamw_torch                               # training.optimizer
  --gradient_checkpointing true                     # recompute
  --deepspeed ds_config.json                        # data_parallel.zero, as its file says
  --dataset_name DATASET                            # to fill in
  --output_dir output                               # to fill in
  --max_steps 100                                   # to fill in
  --learning_rate 1e-4                              # to fill in
  --do_train true
)
torchrun --nnodes 1 --nproc-per-node 8 run_clm.py "${FLAGS[@]}"
