#pragma once

#include <cstdint>
#include <vector>

#include "language/frameworks/framework.h"

namespace stepcast::language {

// How many processes there are and how they share the model, as launchers, accelerate and the Trainer are told it:
// github.com/huggingface/accelerate v1.10 (commands/launch.py, utils/dataclasses.py, utils/fsdp_utils.py,
// parallelism_config.py), and the arguments of training_args.py that are handed on to it.

/// Of torchrun, deepspeed and accelerate: how many processes, and of which kind.
std::vector<FlagRow> launcher_rows();
/// Of FSDP, DDP, DeepSpeed and ParallelismConfig.
std::vector<FlagRow> sharding_rows();
bool has_deepspeed(const Words& words);
bool has_fsdp(const Words& words);
/// Says how many GPUs there are, where a launcher was told.
void read_launched_processes(Words& words);
/// Says what FSDP shards and offloads: "full_shard auto_wrap offload", or its file.
void read_fsdp(Words& words);
/// Says tensor and context ranks, and returns the data ranks that they leave of `gpus`. Throws InputError where the
/// sizes do not multiply to them, as accelerate does.
std::int64_t read_ranks(Words& words, std::int64_t gpus);
/// Says in which groups FSDP shards, over context ranks too, where dp_replicate_size makes several of `data` ranks.
void read_shards(Words& words, std::int64_t data);

}  // namespace stepcast::language
