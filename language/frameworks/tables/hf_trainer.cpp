#include <algorithm>
#include <array>

#include "language/frameworks/framework.h"
#include "language/frameworks/launch.h"
#include "language/frameworks/tables/accelerate.h"
#include "language/frameworks/tables/adapter_flags.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/huggingface/transformers v4.57 (src/transformers/training_args.py, trainer.py,
// integrations/deepspeed.py, which fills in what is "auto"); what accelerate is told is of accelerate.h, and what is
// inside of a DeepSpeed file of the table of DeepSpeed. The sequence and the model are arguments of a script, by the
// names that examples/pytorch and TRL give them.
namespace stepcast::language {

extern const Framework deepspeed;

namespace {

/// Models of the Hub, and the file of configs/models/ that has their shape. The first of a file is written.
constexpr std::array<Spelling, 24> kHubModels{{
    {"llama2-7b", "meta-llama/Llama-2-7b-hf"},
    {"llama2-13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2-70b", "meta-llama/Llama-2-70b-hf"},
    {"llama3-8b", "meta-llama/Meta-Llama-3-8B"},
    {"llama3-8b", "meta-llama/Llama-3.1-8B"},
    {"llama3-70b", "meta-llama/Meta-Llama-3-70B"},
    {"llama3-70b", "meta-llama/Llama-3.1-70B"},
    {"llama3.1-405b", "meta-llama/Llama-3.1-405B"},
    {"mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1"},
    {"mixtral-8x22b", "mistralai/Mixtral-8x22B-v0.1"},
    {"gpt2-124m", "openai-community/gpt2"},
    {"gpt2-124m", "gpt2"},
    {"gpt2-355m", "openai-community/gpt2-medium"},
    {"gpt2-774m", "openai-community/gpt2-large"},
    {"gpt2-1.5b", "openai-community/gpt2-xl"},
    {"opt-1.3b", "facebook/opt-1.3b"},
    {"opt-6.7b", "facebook/opt-6.7b"},
    {"opt-13b", "facebook/opt-13b"},
    {"qwen2.5-7b", "Qwen/Qwen2.5-7B"},
    {"qwen2.5-72b", "Qwen/Qwen2.5-72B"},
    {"qwen3-8b", "Qwen/Qwen3-8B"},
    {"qwen3-32b", "Qwen/Qwen3-32B"},
    {"deepseek-v2-lite", "deepseek-ai/DeepSeek-V2-Lite"},
    {"deepseek-v3", "deepseek-ai/DeepSeek-V3"},
}};

/// Of these models it is known; any other may.
bool may_have_experts(std::string_view model) {
  return std::ranges::find(kHubModels, model, &Spelling::ours) == kHubModels.end() || model.starts_with("mixtral") ||
         model.starts_with("deepseek");
}

std::vector<FlagRow> argument_rows() {
  const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
  return {
      {.name = "--model_name_or_path", .key = "@model", .remark = "model"},
      {.name = "--config_name", .key = "@config", .only_read = true, .remark = "model"},
      {.name = "--block_size", .key = "training.sequence"},
      {.name = "--model_max_length", .key = "training.sequence", .only_read = true},
      {.name = "--max_seq_length", .key = "training.sequence", .only_read = true},
      {.name = "--max_length", .key = "training.sequence", .only_read = true},
      {.name = "--cutoff_len", .key = "training.sequence", .only_read = true},
      {.name = "--attn_implementation",
       .key = "training.attention",
       .usual = "flash",
       .spellings = {{"flash", "sdpa"}, {"flash", "flash_attention_2"}, {"unfused", "eager"}}},
      {.name = "--flash_attn",
       .key = "training.attention",
       .spellings = {{"flash", "fa2"}, {"flash", "sdpa"}, {"flash", "auto"}, {"unfused", "disabled"}},
       .only_read = true},
      {.name = "--per_device_train_batch_size", .key = "@micro", .usual = "8", .remark = "training.micro_batch"},
      {.name = "--gradient_accumulation_steps", .key = "@accumulation", .remark = "training.global_batch"},
      {.name = "--bf16", .key = "@bf16", .spellings = yes_no, .remark = "training.precision"},
      {.name = "--fp16", .key = "@fp16", .spellings = yes_no, .remark = "training.precision"},
      {.name = "--tf32", .key = "@tf32", .spellings = yes_no, .remark = "training.precision, without the other two"},
      {.name = "--optim",
       .key = "@optimizer",
       .usual = "adam",
       .spellings = {{"adam", "adamw_torch"},
                     {"adam", "adamw_torch_fused"},
                     {"adam", "adamw_hf"},
                     {"adam", "adamw_apex_fused"},
                     {"adam", "paged_adamw"},
                     {"adam", "paged_adamw_32bit"},
                     {"sgd", "sgd"},
                     {"adam 8", "adamw_8bit", true},
                     {"adam 8", "adamw_bnb_8bit", true},
                     {"adam 8", "adamw_torch_8bit", true},
                     {"adam 8", "paged_adamw_8bit", true},
                     {"lion", "lion_32bit"},
                     {"lion", "paged_lion_32bit"},
                     {"lion 8", "lion_8bit", true},
                     {"lion 8", "paged_lion_8bit", true},
                     {"adafactor", "adafactor"}},
       .remark = "training.optimizer"},
      {.name = "--gradient_checkpointing",
       .key = "@recompute",
       .usual = "none",
       .spellings = {{"full", "true"}, {"none", "false"}},
       .remark = "recompute"},
      {.name = "gradient_checkpointing_kwargs.use_reentrant",
       .key = "@reentrant",
       .spellings = yes_no,
       .only_read = true,
       .remark = "software.recompute_stops_early"},
      {.name = "--use_reentrant_gc",
       .key = "@reentrant",
       .spellings = yes_no,
       .only_read = true,
       .remark = "software.recompute_stops_early"},
      {.name = "--use_liger_kernel",
       .key = "@liger",
       .spellings = yes_no,
       .only_read = true,
       .remark = "software.fused_linear_cross_entropy, composite_operators"},
      {.name = "--use_liger",
       .key = "@liger",
       .spellings = yes_no,
       .only_read = true,
       .remark = "software.fused_linear_cross_entropy, composite_operators"},
      {.name = "--enable_liger_kernel",
       .key = "@liger",
       .spellings = yes_no,
       .only_read = true,
       .remark = "software.fused_linear_cross_entropy, composite_operators"},
      {.name = "--packing", .key = "@packed", .spellings = yes_no, .only_read = true, .remark = "training.sequence"},
  };
}

/// Of DeepSpeed's rows those that its file holds for the Trainer, which has arguments of its own for the others.
std::vector<FlagRow> file_rows() {
  static constexpr std::array<std::string_view, 6> kOfArguments{"@batch", "@micro",     "@accumulation",
                                                                "@bf16",  "@optimizer", "@fp16"};
  static constexpr std::array<std::string_view, 4> kNone{"@sequences", "@stages", "@offload_activations", "@momentum"};
  std::vector<FlagRow> all;
  for (FlagRow row : deepspeed.rows()) {
    if (std::ranges::find(kNone, row.key) != kNone.end()) continue;
    row.only_read |= std::ranges::find(kOfArguments, row.key) != kOfArguments.end();
    row.usual = {};
    all.push_back(row);
  }
  return all;
}

const std::vector<FlagRow>& hf_rows() {
  static const std::vector<FlagRow> rows = [] {
    std::vector<FlagRow> all = launcher_rows();
    std::ranges::move(argument_rows(), std::back_inserter(all));
    std::ranges::move(sharding_rows(), std::back_inserter(all));
    std::ranges::move(adapter_rows(), std::back_inserter(all));
    std::ranges::move(file_rows(), std::back_inserter(all));
    return all;
  }();
  return rows;
}

std::vector<FixedKey> hf_fixed() {
  return {{"parallelism.sequence", "false", "the Trainer's tensor ranks do not share the sequence"},
          {"parallelism.pipeline", "1", "the Trainer has no pipelines"},
          {"parallelism.context", "1", "DeepSpeed's and DDP's samples are whole on a GPU"},
          {"pipeline.virtual_stages", "1", "the Trainer has no pipelines"},
          {"pipeline.schedule", "1f1b", "the Trainer has no pipelines"}};
}

std::vector<RefusedName> hf_refused() {
  std::vector<RefusedName> all = deepspeed.refused();
  std::erase_if(all, [](const RefusedName& each) { return each.name.find("parallelism.") == 0; });
  const std::vector<RefusedName> own{
      {"sequence_parallel_size", "is none of the Trainer's; expected 1", "1"},
      {"pipeline.stages", "is none of the Trainer's; expected 1", "1"},
      {"--torch_compile", "changes the answer; give --set software=pytorch-fsdp2-compiled", "false", "software"},
      {"--dynamo_backend", "changes the answer; give --set software=pytorch-fsdp2-compiled", "no", "software"},
      {"dynamo_config.dynamo_backend", "changes the answer; give --set software=pytorch-fsdp2-compiled", "NO",
       "software"},
      {"--gradient_checkpointing_kwargs",
       "changes the answer; give --set software.recompute_stops_early=true where use_reentrant is false", "",
       "software.recompute_stops_early"},
      {"--use_unsloth", "changes the answer: Unsloth's kernels are not modelled", "false"},
      {"--use_unsloth_gc", "changes the answer; give --set offload.activations=host, where it keeps layers' inputs",
       "false", "offload.activations"},
      {"--padding_free",
       "changes the answer, since samples attend to themselves alone; give --set training.document_length=N", "false",
       "training.document_length"},
      {"--packing_strategy",
       "changes the answer, since documents of a sample attend to themselves alone; give --set "
       "training.document_length=N",
       "wrapped", "training.document_length"},
      {"parallelism_config.sp_size",
       "changes the answer; give --set parallelism.context=N --set "
       "parallelism.context_method=ulysses",
       "1", "parallelism.context"},
      {"--auto_find_batch_size", "changes the batch; expected --per_device_train_batch_size alone", "false"},
      {"--group_by_length", "changes the sequence from step to step; expected training.sequence of one step", "false"},
      {"--q_lora", "changes the answer; give --set training.lora.base_weights=nf4", "false",
       "training.lora.base_weights"},
      {"recompute.every", "it checkpoints every layer"},
      {"recompute.full_layers", "it checkpoints every layer"},
      {"recompute.modules", "it checkpoints whole layers"},
      {"data_parallel.shard_group", "it shards over all GPUs, or over a node's by hybrid_shard, which is only read"},
      {"parallelism.expert", "it does not share out experts"},
  };
  all.insert(all.end(), own.begin(), own.end());
  std::ranges::move(refused_adapters(), std::back_inserter(all));
  return all;
}

const std::string& hf_ignored() {
  static const std::string names =
      std::string(deepspeed.ignored) + " " + std::string(kIgnoredOfAdapters) +
      " zero_optimization.gather_16bit* --master* --node_rank --node-rank --rdzv* --main_process* --machine_rank "
      "--multi_gpu "
      "--hostfile --include --exclude --same_network --gpu_ids --num_cpu* --mpirun* --tpu* --compute_environment "
      "--debug "
      "--downcast_bf16 --main_training_function --use_cpu --enable_cpu_affinity --config_file --deepspeed_config "
      "--data* --dataset* dataset_mixture.* --train_file --validation* --eval* --do_* --evaluation* --per_device_eval* "
      "--output_dir --overwrite* --num_train_epochs --max_steps --max_grad_norm --learning_rate --lr_* --warmup* "
      "--weight_decay --adam* --logging* --log_* --save* --load_best* --metric* --greater* --seed --report_to "
      "--run_name --push_to_hub* --hub* --remove_unused* --tokenizer* --model_revision --trust_remote_code --cache_dir "
      "--use_fast* --token --low_cpu_mem* --preprocessing* --streaming --ddp_timeout --ddp_backend --ddp_broadcast* "
      "--ddp_find_unused* --local_rank --lazy_preprocess --resume_from* --disable_tqdm --label* --neftune* "
      "--max_samples --eos_token --dataset_mixer* --plot_loss --quantization_method --optim_args --skip_memory* "
      "--include_* --prediction_loss* "
      "--jit_mode* --full_determinism --chat_template "
      "--prompt* --max_train_samples --max_eval_samples --overwrite_cache --fsdp_transformer* --fsdp_min_num* "
      "--fsdp_auto_wrap* "
      "--fsdp_backward_prefetch* --fsdp_forward_prefetch --fsdp_state_dict* --fsdp_sync* --fsdp_use_orig* "
      "--fsdp_cpu_ram* "
      "--zero3_* --gradient_clipping --deepspeed_multinode* --deepspeed_hostfile "
      "--bf16_full_eval --fp16_full_eval --fp16_opt_level --half_precision* --use_cache --past_index "
      "fsdp_config.transformer* fsdp_config.auto_wrap* fsdp_config.backward_prefetch* fsdp_config.forward_prefetch "
      "fsdp_config.cpu_ram* fsdp_config.state_dict* fsdp_config.sync* fsdp_config.use_orig* "
      "fsdp_config.limit* fsdp_config.min_num* fsdp_config.xla* deepspeed_config.deepspeed* deepspeed_config.zero3* "
      "deepspeed_config.gradient_clipping tpu_env --use_parallelism_config parallelism_config.sp_* dynamo_config.* "
      // Of TRL's scripts, open-r1's and LLaMA-Factory's.
      "--config lr_scheduler_kwargs.* --benchmarks --callbacks --system_prompt --wandb_* --eval_packing "
      "--assistant_only_loss --completion_only_loss --use_fast_tokenizer --train_on_prompt --mask_history "
      "--ddp_static_graph";
  return names;
}

std::vector<FixedKey> hf_elsewhere() {
  return {{"model.*", "", ""},
          {"software.fused_linear_cross_entropy", "", "--use_liger_kernel, which brings its other kernels too"},
          {"software.*", "", ""},
          {"training.frozen_layers", "", "requires_grad of their parameters"},
          {"training.lora.*", "", "a LoraConfig of PEFT, and a BitsAndBytesConfig (TRL: --use_peft, --load_in_4bit)"},
          {"training.document_length", "", "packed samples of the data set"},
          {"training.experts.*", "", "the model's router"}};
}

[[noreturn]] void refuse_key(const Words& words, std::string_view key, const std::string& why) {
  throw InputError(std::string(key), "found " + in_quotes(text_of(words, key)) + ", " + why);
}

/// Whose data parallelism a plan is started with.
std::string engine_of(const Words& words) {
  const std::string software = text_of(words, "software"), zero = text_of(words, "data_parallel.zero");
  if (software.starts_with("pytorch-fsdp")) return "fsdp";
  if (software.starts_with("pytorch-ddp") && zero == "0") return "ddp";
  return "deepspeed";
}

/// What PyTorch's own data parallelism does whether it is told or not.
void spell_torch(Words& words, const std::string& engine) {
  const std::string zero = take(words, "data_parallel.zero"), precision = text_of(words, "training.precision");
  const std::string gradients = take(words, "data_parallel.gradient_precision");
  if (text_of(words, "parallelism.tensor") != "1")
    refuse_key(words, "parallelism.tensor", "but only DeepSpeed's tensor parallelism can be told; expected 1");
  if (words.contains("data_parallel.shard_group"))
    refuse_key(words, "data_parallel.shard_group", "but groups of a node, hybrid_shard, are only read; expected none");
  const std::string summed = engine == "ddp" || precision == "tf32" ? "fp32" : precision;
  if (gradients != summed)
    throw InputError("data_parallel.gradient_precision", "found " + in_quotes(gradients) + ", but the Trainer's " +
                                                             engine + " sums gradients in " + summed);
  if (take(words, "data_parallel.overlap") != "true")
    throw InputError("data_parallel.overlap", "found false, but PyTorch's " + engine + " overlaps; expected true");
  const bool optimizer = take(words, "offload.optimizer") == "host", all = take(words, "offload.parameters") == "host";
  if (optimizer != all || (all && engine == "ddp"))
    throw InputError("offload.optimizer", "found one of optimizer and parameters on the host, expected both with FSDP");
  if (engine == "fsdp") {
    if (zero == "1") throw InputError("data_parallel.zero", "found 1, which FSDP has not; expected 0, 2 or 3");
    say(words, "@fsdp",
        std::string(zero == "3"   ? "full_shard"
                    : zero == "2" ? "shard_grad_op"
                                  : "no_shard") +
            " auto_wrap" + (all ? " offload" : ""));
    if (text_of(words, "software").starts_with("pytorch-fsdp2")) say(words, "@fsdp_file", R"({"version":2})");
  }
  const auto bucket = words.find("data_parallel.bucket");
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  if (bucket == words.end() || bucket->second.usual) return;
  const std::int64_t bytes = std::stoll(bucket->second.text);
  if (engine != "ddp" || bytes % kMebibyte != 0)
    refuse_key(words, "data_parallel.bucket",
               "expected whole MiB with DDP, and none with FSDP, whose buckets are layers");
  say(words, "@bucket_mib", std::to_string(bytes / kMebibyte));
  words.erase(bucket);
}

void spell_hf(Words& words, const Framework&) {
  for (const char* key : {"parallelism.context", "parallelism.pipeline"})
    if (text_of(words, key) != "1") refuse_key(words, key, "but the Trainer cannot be told; expected 1");
  take(words, "parallelism.context_method");
  const std::string engine = engine_of(words);
  const std::string optimizer = text_of(words, "training.optimizer");
  if (optimizer == "momentum" || optimizer == "none")
    refuse_key(words, "training.optimizer", "expected adam, sgd, lion or adafactor: --optim sgd has no momentum");
  if (const std::string recompute = text_of(words, "recompute"); recompute == "full" || recompute == "none")
    say(words, "@recompute", take(words, "recompute"));
  if (const std::string model = take(words, "@model"); !model.empty()) {
    const auto known = std::ranges::find(kHubModels, model, &Spelling::ours);
    say(words, "@model", known == kHubModels.end() ? model : std::string(known->theirs));
  }
  const std::string precision = text_of(words, "training.precision");
  if (engine != "deepspeed") {
    spell_torch(words, engine);
    const std::int64_t data = whole_of(words, "parallelism.data"), batch = whole_of(words, "training.global_batch"),
                       micro = whole_of(words, "training.micro_batch");
    for (const char* key : {"parallelism.data", "training.global_batch", "training.micro_batch", "parallelism.tensor"})
      take(words, key);
    say(words, "@micro", std::to_string(micro));
    say(words, "@accumulation", std::to_string(batch / (data * micro)));
    say(words, "@optimizer", take(words, "training.optimizer"));
    if (precision == "bf16" || precision == "fp16") say(words, precision == "bf16" ? "@bf16" : "@fp16", "true");
    if (precision == "tf32") say(words, "@tf32", "true");
    if (precision == "bf16" || precision == "fp16" || precision == "fp32" || precision == "tf32")
      take(words, "training.precision");
    return;
  }
  if (text_of(words, "offload.activations") == "host")
    refuse_key(words, "offload.activations", "but the Trainer cannot be told; expected gpu");
  deepspeed.spell(words, deepspeed);
  take(words, "@batch");
  say(words, "@deepspeed", "ds_config.json");
}

void read_torch(Words& words, bool fsdp) {
  const std::int64_t gpus = whole_of(words, "cluster.gpus"), data = read_ranks(words, gpus);
  if (fsdp)
    read_fsdp(words);
  else
    say(words, "data_parallel.zero", "0", "assumed: neither --deepspeed nor --fsdp, so DistributedDataParallel");
  const std::string precision = text_of(words, "training.precision");
  say(words, "data_parallel.gradient_precision", !fsdp || precision == "tf32" ? "fp32" : precision,
      fsdp ? "accelerate's reduce_dtype of FSDP is the mixed precision's type" : "DDP's gradients are in fp32");
  say(words, "data_parallel.overlap", "true", fsdp ? "FSDP gathers and sums ahead" : "DDP sums under backward passes");
  if (words.contains("@bucket_mib") && !fsdp)
    say(words, "data_parallel.bucket", std::to_string(whole_of(words, "@bucket_mib") << 20) + " B", "@bucket_mib");
  const std::int64_t micro = whole_of(words, "@micro"), passes = whole_of(words, "@accumulation");
  if (fsdp) read_shards(words, data);
  say(words, "training.micro_batch", std::to_string(micro), "@micro");
  say(words, "training.global_batch", std::to_string(product({micro, passes, data})),
      data == gpus ? "--per_device_train_batch_size x --gradient_accumulation_steps x GPUs"
                   : "--per_device_train_batch_size x --gradient_accumulation_steps x data ranks");
  say(words, "training.optimizer", text_of(words, "@optimizer"), "@optimizer");
  if (text_of(words, "@fsdp_recompute") == "true") say(words, "recompute", "full", "@fsdp_recompute");
  if (may_have_experts(text_of(words, "model")))
    say(words, "software.expert_loop", "true", "assumed: experts, if it has any, in a loop, as transformers before 5");
  if (words.contains("software")) return;
  if (!fsdp)
    say(words, "software", "pytorch-ddp", "assumed of DDP");
  else if (words.contains("@fsdp_version"))
    say(words, "software", "pytorch-fsdp" + text_of(words, "@fsdp_version"), "@fsdp_version");
  else
    say(words, "software", "pytorch-fsdp1", "assumed, FSDP's version of accelerate's default: no fsdp_version");
}

void read_checkpointing(Words& words) {
  if (!is_llama_factory(words))
    say(words, "recompute", text_of(words, "@recompute"), "@recompute");
  else if (text_of(words, "@no_recompute") == "true")
    say(words, "recompute", text_of(words, "@recompute"), "@no_recompute");
  else  // prepare_model_for_training() of src/llamafactory/model/model_utils/checkpointing.py
    say(words, "recompute", "full", "assumed, LLaMA-Factory's default: no --disable_gradient_checkpointing");
  if (text_of(words, "@reentrant") == "false" && text_of(words, "recompute") == "full")
    say(words, "software.recompute_stops_early", "true", "@reentrant");
}

/// bitsandbytes and torchao keep moments in 8 bits.
void read_optimizer(Words& words) {
  constexpr std::string_view kEightBits = " 8";
  const std::string optimizer = text_of(words, "@optimizer");
  if (!optimizer.ends_with(kEightBits)) return;
  words.at("@optimizer").text = optimizer.substr(0, optimizer.size() - kEightBits.size());
  say(words, "software.moment_precision", "int8", "@optimizer");
}

void read_hf(Words& words, const Framework&) {
  read_launched_processes(words);
  if (!words.contains("cluster.gpus"))
    throw InputError("--nproc_per_node", "missing, expected it, --num_processes, or --set cluster.gpus=N");
  if (!words.contains("@accumulation"))
    say(words, "@accumulation", "1", "assumed, the Trainer's default: no --gradient_accumulation_steps");
  if (const char* own = words.contains("@config") ? "@config" : "@model"; words.contains(own)) {
    const auto known = std::ranges::find(kHubModels, text_of(words, own), &Spelling::theirs);
    say(words, "model", known == kHubModels.end() ? text_of(words, own) : std::string(known->ours), own);
  }
  if (const std::string mixed = text_of(words, "@mixed"); mixed == "bf16" || mixed == "fp16") {
    refuse_both(words, mixed == "bf16" ? "@fp16" : "@bf16", "@mixed");
    say(words, mixed == "bf16" ? "@bf16" : "@fp16", "true", "@mixed");
  }
  refuse_both(words, "@bf16", "@fp16");
  refuse_both(words, "@deepspeed", "@fsdp");
  read_checkpointing(words);
  read_adapters(words);
  read_optimizer(words);
  if (text_of(words, "@liger") == "true") {
    // _apply_liger_kernel() replaces norms, rotary positions and gated activations beside the loss.
    say(words, "software.fused_linear_cross_entropy", "true", "@liger");
    say(words, "software.composite_operators", "false", "@liger");
  }
  if (const auto sequence = words.find("training.sequence"); sequence != words.end() && words.contains("@packed"))
    sequence->second.remark = text_of(words, "@packed") == "true"
                                  ? "packed: where documents attend to themselves alone, which TRL sees to with "
                                    "FlashAttention, say training.document_length"
                                  : "not packed: samples may be shorter than this, which is the most";
  if (has_deepspeed(words)) {
    if (words.contains("@deepspeed") && !text_of(words, "@deepspeed").ends_with(".json"))
      refuse(words, "@deepspeed", "the name of a JSON file that is known");
    if (text_of(words, "@bucket") == "auto" && !words.contains("data_parallel.bucket"))
      refuse(words, "@bucket",
             "a whole number, or --set data_parallel.bucket: the Trainer makes hidden x hidden of auto");
    if (text_of(words, "@bucket") == "auto") take(words, "@bucket");
    if (!words.contains("data_parallel.zero")) say(words, "data_parallel.zero", "0", "assumed, DeepSpeed's default");
    for (const char* const own : {"@tp", "@cp", "@shards", "@replicas"})
      if (words.contains(own) && whole_of(words, own) > 1)
        refuse(words, own, "1 beside DeepSpeed, whose ranks parallelism_config does not share out");
    return deepspeed.read(words, deepspeed);
  }
  const bool bf16 = text_of(words, "@bf16") == "true", fp16 = text_of(words, "@fp16") == "true";
  const bool tf32 = text_of(words, "@tf32") == "true";
  say(words, "training.precision",
      bf16   ? "bf16"
      : fp16 ? "fp16"
      : tf32 ? "tf32"
             : "fp32",
      bf16   ? "@bf16"
      : fp16 ? "@fp16"
      : tf32 ? "@tf32"
             : "assumed: neither --bf16 nor --fp16");
  read_torch(words, has_fsdp(words));
}

std::vector<std::string> launch_hf(const Words&, const Launch& launch) { return {torchrun(launch, "run_clm.py")}; }

Statements fill_hf() {
  return {{.name = "--dataset_name", .text = "DATASET", .comment = "to fill in"},
          {.name = "--output_dir", .text = "output", .comment = "to fill in"},
          {.name = "--max_steps", .text = "100", .comment = "to fill in"},
          {.name = "--learning_rate", .text = "1e-4", .comment = "to fill in"},
          {.name = "--do_train", .text = "true"},
          {.name = "train_batch_size", .text = "auto", .comment = "the Trainer's arguments"},
          {.name = "train_micro_batch_size_per_gpu", .text = "auto", .comment = "the Trainer's arguments"},
          {.name = "gradient_accumulation_steps", .text = "auto", .comment = "the Trainer's arguments"},
          {.name = "bf16.enabled", .text = "auto", .comment = "the Trainer's arguments"},
          {.name = "fp16.enabled", .text = "auto", .comment = "the Trainer's arguments"}};
}

}  // namespace

extern const Framework hf_trainer;
const Framework hf_trainer{
    .name = "hf-trainer",
    .title = "Hugging Face Trainer",
    .version = "github.com/huggingface/transformers v4.57, accelerate v1.10",
    .software = "huggingface-deepspeed",
    .other_software =
        "pytorch-fsdp1 pytorch-fsdp1-compiled pytorch-fsdp2 pytorch-fsdp2-compiled pytorch-ddp pytorch-ddp-compiled",
    .syntax = trainer_syntax,
    .rows = hf_rows,
    .fixed = hf_fixed,
    .refused = hf_refused,
    .ignored = hf_ignored(),
    .elsewhere = hf_elsewhere,
    .spell = spell_hf,
    .read = read_hf,
    .launch = launch_hf,
    .to_fill = fill_hf};

}  // namespace stepcast::language
