#include <algorithm>
#include <array>

#include "language/frameworks/framework.h"
#include "language/frameworks/launch.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/deepspeedai/DeepSpeed @edaa721, docs/_pages/config-json.md,
// deepspeed/runtime/config.py and constants.py, zero/config.py and offload_config.py, tensor_parallel/config.py.
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& deepspeed_rows() {
  static const std::vector<FlagRow> rows{
      {.name = "train_batch_size", .key = "@batch", .remark = "training.global_batch"},
      {.name = "train_micro_batch_size_per_gpu", .key = "@micro", .remark = "training.micro_batch"},
      {.name = "gradient_accumulation_steps", .key = "@accumulation", .remark = "training.global_batch"},
      {.name = "bf16.enabled",
       .key = "@bf16",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "training.precision"},
      {.name = "fp16.enabled",
       .key = "@fp16",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "training.precision"},
      {.name = "communication_data_type",
       .key = "data_parallel.gradient_precision",
       .spellings = {{"fp32", "fp32"}, {"fp16", "fp16"}, {"bf16", "bf16"}, {"bf16", "bfp16"}}},
      {.name = "optimizer.type",
       .key = "@optimizer",
       .spellings = {{"adam", "AdamW"}, {"adam", "Adam"}, {"sgd", "SGD"}},
       .remark = "training.optimizer"},
      {.name = "optimizer.params.momentum", .key = "@momentum", .remark = "training.optimizer"},
      {.name = "zero_optimization.stage",
       .key = "data_parallel.zero",
       .usual = "0",
       .spellings = {{"0", "0"}, {"1", "1"}, {"2", "2"}, {"3", "3"}}},
      {.name = "zero_optimization.overlap_comm",
       .key = "data_parallel.overlap",
       .spellings = {{"true", "true"}, {"false", "false"}}},
      {.name = "zero_optimization.reduce_bucket_size", .key = "@bucket", .remark = "data_parallel.bucket, in numbers"},
      {.name = "zero_optimization.mics_shard_size",
       .key = "data_parallel.shard_group",
       .remark = "data_parallel.shard_group: MiCS, deepspeed.zero.MiCS_Init in your script"},
      {.name = "zero_optimization.offload_optimizer.device",
       .key = "offload.optimizer",
       .spellings = {{"host", "cpu"}, {"nvme", "nvme"}, {"gpu", "none"}}},
      {.name = "zero_optimization.offload_param.device",
       .key = "offload.parameters",
       .spellings = {{"host", "cpu"}, {"nvme", "nvme"}, {"gpu", "none"}}},
      {.name = "zero_optimization.cpu_offload",
       .key = "offload.optimizer",
       .spellings = {{"host", "true"}, {"gpu", "false"}},
       .only_read = true},
      {.name = "zero_optimization.cpu_offload_params",
       .key = "offload.parameters",
       .spellings = {{"host", "true"}, {"gpu", "false"}},
       .only_read = true},
      {.name = "zero_optimization.stage3_max_live_parameters", .key = "software.live_parameters", .only_read = true},
      {.name = "zero_optimization.max_live_parameters", .key = "software.live_parameters", .only_read = true},
      {.name = "tensor_parallel.autotp_size", .key = "@tensor", .remark = "parallelism.tensor"},
      {.name = "sequence_parallel_size", .key = "@sequences", .remark = "parallelism.context, Ulysses"},
      {.name = "pipeline.stages", .key = "@stages", .remark = "parallelism.pipeline: PipelineModule(num_stages=...)"},
      {.name = "activation_checkpointing.partition_activations",
       .key = "software.partition_activations",
       .usual = "false",
       .spellings = {{"true", "true"}, {"false", "false"}}},
      {.name = "activation_checkpointing.cpu_checkpointing",
       .key = "@offload_activations",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "offload.activations"},
  };
  return rows;
}

std::vector<FixedKey> deepspeed_fixed() {
  return {{"parallelism.sequence", "false", "DeepSpeed's tensor ranks do not share the sequence"},
          {"pipeline.virtual_stages", "1", "DeepSpeed's pipelines have one chunk on a GPU"},
          {"pipeline.schedule", "1f1b", "DeepSpeed's pipeline engine runs TrainSchedule, which is 1f1b"}};
}

std::vector<RefusedName> deepspeed_refused() {
  return {
      {"amp.enabled", "changes the answer: expected bf16 or fp16 instead", "false"},
      {"zero_optimization.zero_hpz_partition_size", "changes the answer and has no key: expected 1", "1"},
      {"zero_optimization.zero_quantized_weights", "changes the answer and has no key; expected false", "false"},
      {"zero_optimization.zero_quantized_gradients", "changes the answer and has no key; expected false", "false"},
      {"zero_optimization.sdma_allgather", "changes the answer and has no key; expected false", "false"},
      {"zero_optimization.reduce_scatter", "changes the answer and has no key; expected true", "true"},
      {"zero_optimization.offload_optimizer.ratio", "changes the answer and has no key: all of the state or none"},
      {"curriculum_learning.enabled", "changes the sequence from step to step; expected training.sequence of one step",
       "false"},
      {"compression_training", "changes the answer and has no key; expected no such line"},
      {"sparse_attention.mode", "changes the answer and has no key; expected no such line"},
      {"pipeline.activation_checkpoint_interval", "changes the answer; give --set recompute.every=N", "",
       "recompute.every"},
      {"activation_checkpointing.number_checkpoints", "changes the answer; give --set recompute.every=N", "",
       "recompute.every"},
      {"parallelism.context", "its sequence parallelism is Ulysses; expected parallelism.context_method ulysses"},
      {"parallelism.context_method", "its sequence parallelism is Ulysses; expected ulysses"},
      {"parallelism.expert", "its configuration does not say who shares experts"},
      {"data_parallel.mode", "it sums gradients by collectives"},
      {"training.precision", "its configuration has bf16, fp16 or neither, which is fp32"},
  };
}

constexpr std::string_view kDeepspeedIgnored =
    "steps_per_print wall_clock_breakdown dump_state gradient_clipping prescale_gradients "
    "gradient_predivide_factor sparse_gradients optimizer.params.* scheduler.* bf16.* fp16.* "
    "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer zero_optimization.contiguous_gradients "
    "zero_optimization.allgather_partitions zero_optimization.allgather_bucket_size "
    "zero_optimization.sub_group_size zero_optimization.stage3_* zero_optimization.round_robin_gradients "
    // The same by the names of DeepSpeedZeroConfig's fields, for which those are aliases (runtime/zero/config.py).
    "zero_optimization.prefetch_bucket_size zero_optimization.param_persistence_threshold "
    "zero_optimization.model_persistence_threshold "
    "zero_optimization.max_reuse_distance zero_optimization.gather_16bit_weights_on_model_save "
    "zero_optimization.module_granularity_threshold zero_optimization.elastic_checkpoint "
    "zero_optimization.log_trace_cache_warnings "
    "zero_optimization.ignore_unused_parameters zero_optimization.load_from_fp32_weights "
    "zero_optimization.offload_optimizer.pin_memory zero_optimization.offload_optimizer.buffer_* "
    "zero_optimization.offload_optimizer.nvme_path zero_optimization.offload_optimizer.pipeline* "
    "zero_optimization.offload_optimizer.fast_init zero_optimization.offload_param.pin_memory "
    "zero_optimization.offload_param.buffer_* zero_optimization.offload_param.nvme_path "
    "zero_optimization.offload_param.max_in_cpu zero_optimization.mics_hierarchical_params_gather aio.* "
    "activation_checkpointing.contiguous* "
    "activation_checkpointing.synchronize* activation_checkpointing.profile flops_profiler.* comms_logger.* "
    "tensorboard.* wandb.* csv_monitor.* monitor_config.* checkpoint.* amp.opt_level pipeline.seed_layers "
    "pipeline.partition pipeline.pipe_partitioned pipeline.grad_partitioned dataloader_drop_last seed "
    "memory_breakdown curriculum_learning.*";

std::vector<FixedKey> deepspeed_elsewhere() {
  return {{"model.*", "", ""},
          {"software.*", "", ""},
          {"training.sequence", "", "the length of its samples"},
          {"training.decoder_sequence", "", ""},
          {"training.attention", "", "attn_implementation of the model"},
          {"training.frozen_layers", "", "requires_grad of their parameters"},
          {"training.lora.*", "", "a LoraConfig of PEFT, and a BitsAndBytesConfig"},
          {"training.document_length", "", "packed samples of the data set"},
          {"training.experts.*", "", "the model's router"},
          {"recompute", "", "gradient checkpointing of the model (activation_checkpoint_interval of a PipelineModule)"},
          {"recompute.*", "", "checkpoint those layers alone"},
          {"pipeline.partition", "", "PipelineModule(partition_method=...)"},
          {"pipeline.embedding_as_layer", "", "PipelineModule(partition_method=...)"},
          {"pipeline.head_as_layer", "", "PipelineModule(partition_method=...)"},
          {"parallelism.layers_per_stage", "", "PipelineModule(partition_method=...)"}};
}

/// Bytes of a gradient on the wire.
std::int64_t gradient_bytes(const Words& words) {
  return text_of(words, "data_parallel.gradient_precision") == "fp32" ? 4 : 2;
}

void spell_deepspeed(Words& words, const Framework&) {
  const std::int64_t data = whole_of(words, "parallelism.data"), batch = whole_of(words, "training.global_batch"),
                     micro = whole_of(words, "training.micro_batch");
  for (const char* key : {"parallelism.data", "training.global_batch", "training.micro_batch"}) take(words, key);
  say(words, "@batch", std::to_string(batch));
  say(words, "@micro", std::to_string(micro));
  say(words, "@accumulation", std::to_string(batch / (data * micro)));
  if (text_of(words, "parallelism.pipeline") != "1" && text_of(words, "data_parallel.zero") > "1")
    throw InputError("data_parallel.zero", "found " + text_of(words, "data_parallel.zero") +
                                               " with a pipeline, but DeepSpeed's pipeline engine takes 0 and 1 alone "
                                               "(deepspeed/runtime/pipe/engine.py); expected 0 or 1");
  if (words.contains("data_parallel.shard_group") && text_of(words, "data_parallel.zero") != "3")
    throw InputError("data_parallel.shard_group", "found with data_parallel.zero " +
                                                      text_of(words, "data_parallel.zero") +
                                                      ", but DeepSpeed shards in groups (MiCS) with 3 alone");
  const std::string precision = text_of(words, "training.precision");
  if (precision == "bf16" || precision == "fp16") say(words, precision == "bf16" ? "@bf16" : "@fp16", "true");
  if (precision == "bf16" || precision == "fp16" || precision == "fp32") take(words, "training.precision");
  const auto bucket = words.find("data_parallel.bucket");
  if (bucket != words.end() && !bucket->second.usual) {
    const std::int64_t bytes = std::stoll(bucket->second.text), element = gradient_bytes(words);
    if (bytes % element != 0)
      throw InputError("data_parallel.bucket", "found " + std::to_string(bytes) +
                                                   " bytes, expected whole gradients of " + std::to_string(element) +
                                                   " bytes each");
    say(words, "@bucket", std::to_string(bytes / element));
    words.erase(bucket);
  }
  refuse_rare_optimizers(words);
  const std::string optimizer = text_of(words, "training.optimizer");
  if (optimizer != "none") say(words, "@optimizer", take(words, "training.optimizer") == "adam" ? "adam" : "sgd");
  if (optimizer == "momentum") say(words, "@momentum", "0.9");
  if (const std::string tensor = take(words, "parallelism.tensor"); tensor != "1") say(words, "@tensor", tensor);
  if (const std::string stages = take(words, "parallelism.pipeline"); stages != "1") say(words, "@stages", stages);
  if (text_of(words, "parallelism.context") != "1" && text_of(words, "parallelism.context_method") == "ulysses") {
    say(words, "@sequences", take(words, "parallelism.context"));
    take(words, "parallelism.context_method");
  } else if (text_of(words, "parallelism.context") == "1") {
    take(words, "parallelism.context");
    take(words, "parallelism.context_method");
  }
  if (text_of(words, "offload.activations") == "host") {
    take(words, "offload.activations");
    say(words, "@offload_activations", "true");
  }
}

void read_size(Words& words, const char* own, const char* key, const char* name) {
  if (words.contains(key)) return;  // --set
  if (words.contains(own) && text_of(words, own) != "auto" && whole_of(words, own, 0) > 1)
    say(words, key, text_of(words, own), own);
  else
    say(words, key, "1", std::string("assumed: no ") + name);
}

void read_batch_sizes(Words& words) {
  static constexpr std::array kKeys{"@batch", "@micro", "@accumulation"};
  for (const char* key : kKeys)
    if (text_of(words, key) == "auto")
      throw InputError(words.at(key).from, "found auto, which the Trainer fills in; expected a whole number");
  const std::int64_t model = product({whole_of(words, "parallelism.tensor"), whole_of(words, "parallelism.context"),
                                      whole_of(words, "parallelism.pipeline")});
  const auto known = std::ranges::count_if(kKeys, [&](const char* key) { return words.contains(key); });
  std::int64_t batch = words.contains("@batch") ? whole_of(words, "@batch") : 0,
               micro = words.contains("@micro") ? whole_of(words, "@micro") : 0,
               passes = words.contains("@accumulation") ? whole_of(words, "@accumulation") : 0, data = 0;
  // Of the three sizes and the data ranks three make the fourth (DeepSpeed's _batch_assertion); with one size alone
  // there is no accumulation.
  if (known < 3) {
    if (!words.contains("cluster.gpus"))
      throw InputError(known == 0 ? "train_batch_size" : "gradient_accumulation_steps",
                       "missing, expected all three batch sizes, or --set cluster.gpus=N to know the data ranks");
    data = whole_of(words, "cluster.gpus") / model;
    if (passes == 0 && (batch == 0 || micro == 0)) passes = 1;
  }
  if (known < 3 && (data == 0 || (batch == 0 && micro == 0)))
    throw InputError("train_batch_size", "missing, expected a whole number");
  const auto exact = [&](std::int64_t all, std::int64_t part) {
    if (part < 1 || all % part != 0)
      throw InputError("train_batch_size", "found " + std::to_string(all) + ", expected a multiple of " +
                                               std::to_string(part) + ", the product of the other sizes");
    return all / part;
  };
  if (known == 3) data = exact(batch, product({micro, passes}));
  if (batch == 0) batch = product({micro, passes, data});
  if (micro == 0) micro = exact(batch, product({passes, data}));
  if (passes == 0) passes = exact(batch, product({micro, data}));
  if (batch != product({micro, passes, data})) exact(batch, product({micro, passes, data}));
  const auto from = [&](const char* key) {
    return words.contains(key) ? key : "of the GPUs and the other batch sizes";
  };
  say(words, "training.micro_batch", std::to_string(micro), from("@micro"));
  say(words, "training.global_batch", std::to_string(batch), from("@batch"));
  say(words, "parallelism.data", std::to_string(data), "of the batch sizes and the GPUs");
  say(words, "cluster.gpus", std::to_string(product({data, model})), "of the batch sizes");
}

void read_deepspeed(Words& words, const Framework&) {
  read_size(words, "@tensor", "parallelism.tensor", "tensor_parallel.autotp_size");
  read_size(words, "@stages", "parallelism.pipeline", "pipeline.stages");
  read_size(words, "@sequences", "parallelism.context", "sequence_parallel_size");
  if (text_of(words, "parallelism.context") != "1") say(words, "parallelism.context_method", "ulysses", "@sequences");
  read_batch_sizes(words);
  refuse_both(words, "@bf16", "@fp16");
  const bool bf16 = text_of(words, "@bf16") == "true", fp16 = text_of(words, "@fp16") == "true";
  say(words, "training.precision",
      bf16   ? "bf16"
      : fp16 ? "fp16"
             : "fp32",
      bf16   ? "@bf16"
      : fp16 ? "@fp16"
             : "assumed: neither bf16 nor fp16");
  if (!words.contains("data_parallel.overlap"))
    say(words, "data_parallel.overlap", text_of(words, "data_parallel.zero") == "3" ? "true" : "false",
        "assumed, DeepSpeed's default of the stage: no overlap_comm");
  // zero/config.py: without communication_data_type the type that gradients have.
  if (!words.contains("data_parallel.gradient_precision"))
    say(words, "data_parallel.gradient_precision", text_of(words, "training.precision"),
        "assumed, DeepSpeed's default: no communication_data_type");
  if (words.contains("@bucket"))
    say(words, "data_parallel.bucket", std::to_string(whole_of(words, "@bucket") * gradient_bytes(words)) + " B",
        "@bucket");
  const bool momentum = std::strtod(text_of(words, "@momentum").c_str(), nullptr) > 0;
  if (const std::string optimizer = text_of(words, "@optimizer"); !optimizer.empty())
    say(words, "training.optimizer", optimizer == "sgd" && momentum ? "momentum" : optimizer, "@optimizer");
  if (text_of(words, "@offload_activations") == "true")
    say(words, "offload.activations", "host", "@offload_activations");
  if (text_of(words, "data_parallel.shard_group") == "-1") take(words, "data_parallel.shard_group");
}

std::vector<std::string> launch_deepspeed(const Words& words, const Launch& launch) {
  std::vector<std::string> lines;
  if (text_of(words, "parallelism.pipeline") != "1")
    lines.push_back(
        "# your script makes the model a PipelineModule(num_stages=" + text_of(words, "parallelism.pipeline") + ")");
  lines.push_back(torchrun(launch, "TRAIN.py --deepspeed --deepspeed_config FILE"));
  return lines;
}

Statements fill_deepspeed() {
  return {{.name = "optimizer.params.lr", .text = "1e-4", .comment = "to fill in"},
          {.name = "gradient_clipping", .text = "1.0", .comment = "to fill in"}};
}

}  // namespace

extern const Framework deepspeed;
const Framework deepspeed{.name = "deepspeed",
                          .title = "DeepSpeed",
                          .version = "github.com/deepspeedai/DeepSpeed @edaa721",
                          .software = "huggingface-deepspeed",
                          .syntax = json_syntax,
                          .rows = deepspeed_rows,
                          .fixed = deepspeed_fixed,
                          .refused = deepspeed_refused,
                          .ignored = kDeepspeedIgnored,
                          .elsewhere = deepspeed_elsewhere,
                          .spell = spell_deepspeed,
                          .read = read_deepspeed,
                          .launch = launch_deepspeed,
                          .to_fill = fill_deepspeed};

}  // namespace stepcast::language
