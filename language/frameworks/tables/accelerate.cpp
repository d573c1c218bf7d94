#include "language/frameworks/tables/accelerate.h"

#include <algorithm>
#include <array>

#include "language/frameworks/launch.h"

namespace stepcast::language {
namespace {

std::vector<FlagRow> file_and_argument_rows() {
  const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
  return {
      {.name = "--ddp_bucket_cap_mb", .key = "@bucket_mib", .remark = "data_parallel.bucket, in MiB"},
      {.name = "--deepspeed", .key = "@deepspeed", .remark = "data_parallel.zero, as its file says"},
      {.name = "--deepspeed_config_file", .key = "@deepspeed", .only_read = true, .remark = "data_parallel.zero"},
      {.name = "--fsdp", .key = "@fsdp", .remark = "data_parallel.zero, offload"},
      {.name = "--fsdp_config", .key = "@fsdp_file", .remark = "data_parallel.zero, offload, software"},
      {.name = "fsdp_config.version",
       .key = "@fsdp_version",
       .spellings = {{"1", "1"}, {"2", "2"}},
       .only_read = true,
       .remark = "software"},
      {.name = "fsdp_config.sharding_strategy",
       .key = "@strategy",
       .spellings = {{"3", "FULL_SHARD"},
                     {"2", "SHARD_GRAD_OP"},
                     {"0", "NO_SHARD"},
                     {"hybrid 3", "HYBRID_SHARD"},
                     {"hybrid 2", "HYBRID_SHARD_ZERO2"},
                     {"3", "1"},
                     {"2", "2"},
                     {"0", "3"},
                     {"hybrid 3", "4"},
                     {"hybrid 2", "5"}},
       .only_read = true,
       .remark = "data_parallel.zero"},
      {.name = "fsdp_config.reshard_after_forward",
       .key = "@strategy",
       .spellings = {{"3", "true"}, {"2", "false"}, {"3", "FULL_SHARD"}, {"2", "SHARD_GRAD_OP"}},
       .only_read = true,
       .remark = "data_parallel.zero"},
      {.name = "fsdp_config.offload_params",
       .key = "@fsdp_offload",
       .spellings = yes_no,
       .only_read = true,
       .remark = "offload"},
      {.name = "fsdp_config.cpu_offload",
       .key = "@fsdp_offload",
       .spellings = yes_no,
       .only_read = true,
       .remark = "offload"},
      {.name = "fsdp_config.activation_checkpointing",
       .key = "@fsdp_recompute",
       .spellings = yes_no,
       .only_read = true,
       .remark = "recompute"},
      {.name = "deepspeed_config.zero_stage",
       .key = "data_parallel.zero",
       .spellings = {{"0", "0"}, {"1", "1"}, {"2", "2"}, {"3", "3"}},
       .only_read = true},
      {.name = "deepspeed_config.offload_optimizer_device",
       .key = "offload.optimizer",
       .spellings = {{"host", "cpu"}, {"nvme", "nvme"}, {"gpu", "none"}},
       .only_read = true},
      {.name = "deepspeed_config.offload_param_device",
       .key = "offload.parameters",
       .spellings = {{"host", "cpu"}, {"nvme", "nvme"}, {"gpu", "none"}},
       .only_read = true},
      {.name = "deepspeed_config.gradient_accumulation_steps",
       .key = "@accumulation",
       .only_read = true,
       .remark = "training.global_batch"},
  };
}

/// accelerate's ParallelismConfig (src/accelerate/parallelism_config.py), as its file has it and as flags.
std::vector<FlagRow> parallelism_rows() {
  static constexpr std::array<Spelling, 8> kSizes{{{"@replicas", "parallelism_config.dp_replicate_size"},
                                                   {"@shards", "parallelism_config.dp_shard_size"},
                                                   {"@tp", "parallelism_config.tp_size"},
                                                   {"@cp", "parallelism_config.cp_size"},
                                                   {"@replicas", "--parallelism_config_dp_replicate_size"},
                                                   {"@shards", "--parallelism_config_dp_shard_size"},
                                                   {"@tp", "--parallelism_config_tp_size"},
                                                   {"@cp", "--parallelism_config_cp_size"}}};
  std::vector<FlagRow> all;
  for (const Spelling& size : kSizes)
    all.push_back({.name = size.theirs,
                   .key = size.ours,
                   .only_read = true,
                   .remark = size.ours == "@tp"   ? "parallelism.tensor"
                             : size.ours == "@cp" ? "parallelism.context"
                                                  : "data_parallel.shard_group"});
  for (const char* const name : {"parallelism_config.cp_comm_strategy", "--parallelism_config_cp_comm_strategy"})
    all.push_back({.name = name,
                   .key = "@cp_method",
                   .spellings = {{"all-gather", "allgather"}, {"ring", "alltoall"}},
                   .only_read = true,
                   .remark = "parallelism.context_method"});
  return all;
}

/// What `accelerate launch` takes in front of the program: keys of its file, as flags.
std::vector<FlagRow> flag_rows() {
  static constexpr std::array<Spelling, 8> kFlags{{
      {"fsdp_config.version", "--fsdp_version"},
      {"fsdp_config.sharding_strategy", "--fsdp_sharding_strategy"},
      {"fsdp_config.reshard_after_forward", "--fsdp_reshard_after_forward"},
      {"fsdp_config.offload_params", "--fsdp_offload_params"},
      {"fsdp_config.activation_checkpointing", "--fsdp_activation_checkpointing"},
      {"deepspeed_config.zero_stage", "--zero_stage"},
      {"deepspeed_config.offload_optimizer_device", "--offload_optimizer_device"},
      {"deepspeed_config.offload_param_device", "--offload_param_device"},
  }};
  std::vector<FlagRow> all;
  for (FlagRow row : file_and_argument_rows()) {
    const auto flag = std::ranges::find(kFlags, row.name, &Spelling::ours);
    if (flag == kFlags.end()) continue;
    row.name = flag->theirs;
    all.push_back(row);
  }
  return all;
}

/// A hybrid shards inside a node: the launch says how many GPUs one has.
void read_shard_group(Words& words, const std::string& own) {
  if (words.contains("@set_shard_group")) return;
  std::int64_t nodes = 1, each = 0;
  if (words.contains("@processes")) {
    nodes = words.contains("@machines") ? std::max<std::int64_t>(1, whole_of(words, "@machines")) : 1;
    each = whole_of(words, "@processes") / nodes;
  } else if (words.contains("@gpus_per_node")) {
    nodes = whole_of(words, "@nodes");
    each = whole_of(words, "@gpus_per_node");
  } else {
    refuse(words, own, "it beside --num_machines and --num_processes, or --set data_parallel.shard_group=N");
  }
  if (nodes > 1) say(words, "data_parallel.shard_group", std::to_string(each), own);
}

}  // namespace

std::vector<FlagRow> launcher_rows() {
  return {
      {.name = "--nnodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_nodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc_per_node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc-per-node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_gpus", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_machines", .key = "@machines", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_processes", .key = "@processes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--distributed_type",
       .key = "@distributed",
       .spellings = {{"fsdp", "FSDP"}, {"deepspeed", "DEEPSPEED"}, {"ddp", "MULTI_GPU"}, {"ddp", "NO"}, {"ddp", "no"}},
       .only_read = true,
       .remark = "software"},
      {.name = "--use_fsdp", .key = "@use_fsdp", .only_read = true, .remark = "software"},
      {.name = "--use_deepspeed", .key = "@use_deepspeed", .only_read = true, .remark = "software"},
      {.name = "--mixed_precision",
       .key = "@mixed",
       .spellings = {{"fp32", "no"}, {"bf16", "bf16"}, {"fp16", "fp16"}},
       .only_read = true,
       .remark = "training.precision"},
  };
}

std::vector<FlagRow> sharding_rows() {
  std::vector<FlagRow> all = file_and_argument_rows();
  std::ranges::move(flag_rows(), std::back_inserter(all));
  std::ranges::move(parallelism_rows(), std::back_inserter(all));
  return all;
}

bool has_deepspeed(const Words& words) {
  return words.contains("@deepspeed") || text_of(words, "@distributed") == "deepspeed" ||
         text_of(words, "@use_deepspeed") == "true";
}

bool has_fsdp(const Words& words) {
  return words.contains("@fsdp") || text_of(words, "@distributed") == "fsdp" || text_of(words, "@use_fsdp") == "true";
}

void read_launched_processes(Words& words) {
  if (words.contains("@processes"))
    return say(words, "cluster.gpus", std::to_string(whole_of(words, "@processes")), "@processes");
  read_launched_gpus(words);
}

void read_fsdp(Words& words) {
  const std::string told = text_of(words, "@fsdp");
  std::string zero = words.contains("@strategy") ? text_of(words, "@strategy") : "3";
  std::string own = words.contains("@strategy") ? "@strategy" : "assumed, FSDP's default: full_shard";
  bool offload = text_of(words, "@fsdp_offload") == "true";
  for (std::size_t begin = 0; begin < told.size();) {
    const std::size_t end = std::min(told.find(' ', begin), told.size());
    const std::string word = told.substr(begin, end - begin);
    begin = end + 1;
    if (word == "auto_wrap" || word.empty() || word == "true") continue;
    if (word == "offload") {
      offload = true;
      continue;
    }
    own = "@fsdp";
    zero = word == "full_shard"           ? "3"
           : word == "shard_grad_op"      ? "2"
           : word == "no_shard"           ? "0"
           : word == "hybrid_shard"       ? "hybrid 3"
           : word == "hybrid_shard_zero2" ? "hybrid 2"
                                          : "";
    if (zero.empty())
      refuse(words, "@fsdp",
             "full_shard, shard_grad_op, no_shard, hybrid_shard or hybrid_shard_zero2, with auto_wrap and offload");
  }
  say(words, "data_parallel.zero", zero.substr(zero.size() - 1), own);
  if (zero.starts_with("hybrid")) read_shard_group(words, own);
  if (offload)
    for (const char* key : {"offload.optimizer", "offload.parameters"})
      say(words, key, "host", words.contains("@fsdp_offload") ? "@fsdp_offload" : "@fsdp");
}

std::int64_t read_ranks(Words& words, std::int64_t gpus) {
  const auto size = [&](const char* own) { return words.contains(own) ? whole_of(words, own) : 1; };
  const std::int64_t tensor = size("@tp"), context = size("@cp");
  const char* const usual = "assumed, accelerate's default: no parallelism_config";
  say(words, "parallelism.tensor", std::to_string(tensor), words.contains("@tp") ? "@tp" : usual);
  say(words, "parallelism.context", std::to_string(context), words.contains("@cp") ? "@cp" : usual);
  if (context > 1)
    say(words, "parallelism.context_method", words.contains("@cp_method") ? text_of(words, "@cp_method") : "all-gather",
        words.contains("@cp_method") ? "@cp_method" : "assumed, accelerate's default: no cp_comm_strategy");
  // _validate_accelerator() of ParallelismConfig: whatever sizes are said have to multiply to the number of processes.
  const char* const last = words.contains("@shards") ? "@shards"
                           : tensor > 1              ? "@tp"
                           : context > 1             ? "@cp"
                                                     : "@replicas";
  const std::int64_t all = product({size("@replicas"), size("@shards"), tensor, context});
  if (all != gpus && (all > 1 || words.contains("@shards")))
    refuse(words, last, "sizes that multiply to the " + std::to_string(gpus) + " GPUs, not to " + std::to_string(all));
  const std::int64_t data = gpus / product({tensor, context});
  say(words, "parallelism.data", std::to_string(data),
      tensor * context == 1 ? "all GPUs" : "GPUs over tensor and context ranks");
  return data;
}

void read_shards(Words& words, std::int64_t data) {
  if (!words.contains("@replicas") || whole_of(words, "@replicas") == 1) return;
  const std::int64_t shards = data / whole_of(words, "@replicas") * whole_of(words, "parallelism.context");
  if (shards == 1) return say(words, "data_parallel.zero", "0", "@replicas");
  say(words, "data_parallel.shard_group", std::to_string(shards), "@replicas");
}

}  // namespace stepcast::language
