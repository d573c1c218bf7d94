#include <algorithm>

#include "language/frameworks/launch.h"
#include "language/frameworks/tables/kv_heads.h"
#include "language/frameworks/tables/megatron_core.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/NVIDIA/NeMo, release 1 (r1.23.0), examples/nlp/language_modeling/conf/
// megatron_gpt_config.yaml, whose values are the defaults; nemo/collections/nlp/models/language_modeling/
// megatron_base_model.py and megatron_gpt_model.py. Fields of Megatron Core's TransformerConfig are taken by their
// names (build_transformer_config()). Buckets: NVIDIA/apex, contrib/optimizers/distributed_fused_adam.py,
// whose megabytes are of 1024 x 1024 bytes; from memory.
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& nemo_rows() {
  static const std::vector<FlagRow> rows = [] {
    const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
    std::vector<FlagRow> all{
        {.name = "trainer.num_nodes", .key = "@nodes", .remark = "cluster.gpus"},
        {.name = "trainer.devices", .key = "@gpus_per_node", .remark = "cluster.gpus"},
        {.name = "trainer.precision",
         .key = "@precision",
         .usual = "fp16",
         .spellings = {{"bf16", "bf16"},
                       {"bf16", "bf16-mixed"},
                       {"fp16", "16"},
                       {"fp16", "16-mixed"},
                       {"fp32", "32"},
                       {"fp32", "32-true"}},
         .remark = "training.precision"},
        {.name = "model.micro_batch_size", .key = "training.micro_batch"},
        {.name = "model.global_batch_size", .key = "training.global_batch"},
        {.name = "model.encoder_seq_length", .key = "training.sequence"},
        {.name = "model.max_position_embeddings", .key = "@positions", .remark = "at least training.sequence"},
    };
    std::ranges::move(transformer_config_rows(), std::back_inserter(all));
    const std::vector<FlagRow> own{
        {.name = "model.overlap_p2p_comm",
         .key = "software.pipeline_overlap",
         .usual = "false",
         .spellings = {{"interleaved", "true"}, {"false", "false"}}},
        {.name = "model.normalization",
         .key = "@norm",
         .usual = "layer",
         .spellings = {{"layer", "layernorm"}, {"layer", "layernorm1p"}, {"rms", "rmsnorm"}},
         .remark = "model.family"},
        {.name = "model.activation",
         .key = "model.activation",
         .usual = "gelu",
         .spellings = {{"gelu", "gelu"},
                       {"swiglu", "fast-swiglu"},
                       {"swiglu", "swiglu"},
                       {"geglu", "fast-geglu"},
                       {"geglu", "geglu"},
                       {"squared-relu", "squared-relu"}}},
        {.name = "model.bias", .key = "model.biases", .usual = "true", .spellings = yes_no},
        {.name = "model.position_embedding_type",
         .key = "model.position_encoding",
         .usual = "learned",
         .spellings = {{"learned", "learned_absolute"}, {"rotary", "rope"}}},
        {.name = "model.share_embeddings_and_output_weights",
         .key = "model.tied_head",
         .usual = "true",
         .spellings = yes_no},
        {.name = "model.hidden_dropout", .key = "@hidden_dropout", .usual = "0.1", .remark = "model.dropout"},
        {.name = "model.attention_dropout", .key = "@attention_dropout", .usual = "0.1", .remark = "model.dropout"},
        {.name = "model.use_flash_attention", .key = "@flash", .spellings = yes_no, .remark = "training.attention"},
        {.name = "model.transformer_engine",
         .key = "@engine",
         .spellings = yes_no,
         .remark = "training.attention, training.precision"},
        {.name = "model.fp8", .key = "@fp8", .spellings = yes_no, .remark = "training.precision"},
        {.name = "model.fp8_params", .key = "training.eight_bit_parameters", .spellings = yes_no},
        {.name = "model.masked_softmax_fusion", .key = "software.fused_softmax", .usual = "true", .spellings = yes_no},
        {.name = "model.bias_activation_fusion",
         .key = "software.fused_bias_gelu",
         .usual = "true",
         .spellings = yes_no},
        {.name = "model.bias_dropout_add_fusion",
         .key = "software.fused_bias_dropout_add",
         .usual = "true",
         .spellings = yes_no},
        {.name = "model.gradient_accumulation_fusion",
         .key = "software.fused_gradient_accumulation",
         .usual = "false",
         .spellings = yes_no},
        {.name = "model.ub_tp_comm_overlap",
         .key = "software.tensor_overlap",
         .usual = "none",
         .spellings = {{"all", "true"}, {"none", "false"}}},
        {.name = "model.activations_checkpoint_granularity",
         .key = "@recompute",
         .spellings = {{"full", "full"}, {"selective", "selective"}},
         .remark = "recompute"},
        {.name = "model.activations_checkpoint_method",
         .key = "@recompute_method",
         .spellings = {{"uniform", "uniform"}, {"block", "block"}},
         .remark = "recompute"},
        {.name = "model.activations_checkpoint_num_layers",
         .key = "@recompute_layers",
         .remark = "recompute.every or full_layers"},
        {.name = "model.fsdp", .key = "@fsdp", .spellings = yes_no, .remark = "data_parallel.zero"},
        {.name = "model.fsdp_sharding_strategy",
         .key = "@strategy",
         .spellings = {{"3", "full"}, {"2", "grad"}},
         .remark = "data_parallel.zero"},
        {.name = "model.fsdp_grad_reduce_dtype",
         .key = "@fsdp_gradients",
         .spellings = {{"fp32", "fp32"}, {"fp32", "32"}, {"bf16", "bf16"}},
         .remark = "data_parallel.gradient_precision"},
        {.name = "model.optim.name",
         .key = "@optim",
         .usual = "fused_adam",
         .spellings = {{"distributed", "distributed_fused_adam"},
                       {"distributed", "mcore_distributed_optim"},
                       {"fused_adam", "fused_adam"},
                       {"fused_adam", "adamw"},
                       {"fused_adam", "adam"},
                       {"sgd", "sgd"}},
         .remark = "training.optimizer, data_parallel.zero"},
        {.name = "model.optim.momentum", .key = "@momentum", .remark = "training.optimizer"},
        {.name = "model.optim.overlap_grad_sync",
         .key = "data_parallel.overlap",
         .usual = "false",
         .spellings = yes_no},
        {.name = "model.optim.overlap_param_sync",
         .key = "@overlap_gather",
         .spellings = yes_no,
         .remark = "data_parallel.overlap"},
        {.name = "model.optim.bucket_cap_mb", .key = "@bucket_mib", .remark = "data_parallel.bucket, in MiB"},
        {.name = "model.optim.grad_sync_dtype",
         .key = "@gradients",
         .spellings = {{"bf16", "bf16"}, {"fp16", "16"}, {"fp16", "fp16"}, {"fp32", "fp32"}, {"fp32", "32"}},
         .remark = "data_parallel.gradient_precision"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return rows;
}

std::vector<FixedKey> nemo_fixed() { return {}; }

std::vector<RefusedName> nemo_refused() {
  std::vector<RefusedName> all = transformer_config_refused();
  const std::vector<RefusedName> own{
      {"data_parallel.shard_group", "it shards over all data ranks"},
      {"trainer.accumulate_grad_batches", "is none that Megatron's models take; expected 1", "1"},
      {"model.mcore_gpt", "changes the answer: expected true, Megatron Core's model", "true"},
      {"model.num_micro_batches_with_partial_activation_checkpoints",
       "changes the answer and has no key; expected null or 0", "0"},
      {"model.activations_checkpoint_layers_per_pipeline", "changes the answer and has no key; expected null or 0",
       "0"},
      {"model.headscale", "changes the answer and has no key; expected false", "false"},
      {"model.transformer_block_type", "changes the answer and has no key; expected pre_ln", "pre_ln"},
      {"model.attention_type", "changes the answer and has no key; expected multihead", "multihead"},
      {"model.openai_gelu", "changes the answer and has no key; expected false", "false"},
      {"model.use_emha", "changes the answer and has no key; expected false", "false"},
      {"model.multi_query_attention", "leave it out and give model.num_query_groups", "false"},
      {"model.peft.peft_scheme", "changes the answer; give --set training.lora.rank", "none", "training.lora.rank"},
      {"model.rampup_batch_size", "changes the batch from step to step; expected model.global_batch_size alone"},
      {"model.latent", "it has no latent attention"},
      {"model.latent.*", "it has no latent attention"},
      {"recompute.modules", "it recomputes the attention core alone"},
      {"training.precision", "it has bf16, 16, 32 and fp8"},
      {"offload.optimizer", "it keeps the optimizer on the GPUs"},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

constexpr std::string_view kNemoIgnored =
    "name restore_from_path hydra.* defaults run.* exp_manager.* cluster_type trainer.accelerator trainer.logger "
    "trainer.enable_checkpointing trainer.use_distributed_sampler trainer.replace_sampler_ddp trainer.max_* "
    "trainer.log_every_n_steps trainer.val_check_interval trainer.limit_* trainer.gradient_clip_* trainer.benchmark "
    "trainer.strategy trainer.enable_* trainer.num_sanity_val_steps trainer.check_val_every_n_epoch "
    "model.resume_from_checkpoint model.init_method_std model.use_scaled_init_method model.ffn_dropout "
    "model.apply_query_key_layer_scaling model.layernorm_epsilon model.do_layer_norm_weight_decay model.pre_process "
    "model.post_process model.persist_layer_norm model.gradient_as_bucket_view model.grad_div_ar_fusion "
    "model.batch_p2p_comm model.tokenizer.* model.native_amp_* model.hysteresis model.fp16_lm_cross_entropy "
    "model.megatron_amp_O2 model.grad_allreduce_chunk_size_mb model.sharp model.fp8_e4m3 model.fp8_hybrid "
    "model.fp8_margin model.fp8_interval model.fp8_amax_* model.fp8_wgrad model.reduce_amax model.seed "
    "model.sync_batch_comm model.use_cpu_initialization model.onnx_safe model.apex_transformer_log_level "
    "model.nsys_profile.* model.memory_profile.* model.gc_interval model.optim.lr model.optim.weight_decay "
    "model.optim.betas model.optim.sched.* model.optim.contiguous_* model.optim.eps model.data.* "
    "model.normalize_attention_scores model.rotary_* model.seq_len_interpolation_factor model.rotary_base "
    "model.apply_rope_fusion model.attention_softmax_in_fp32 model.fsdp_sharded_checkpoint model.ub_tp_comm_* "
    "model.get_attention_mask_from_fusion model.mcore_* model.megatron_lm_compatible model.dist_ckpt_* "
    "model.use_te_rng_tracker model.moe_router_load* model.moe_router_pre_softmax model.moe_aux* model.moe_z_loss* "
    "model.moe_permute_fusion model.log_token_counts --nnodes --nproc* --master* --node* --rdzv*";

std::vector<FixedKey> nemo_elsewhere() {
  return {{"model.vocab", "", "the vocabulary of its tokenizer"}, {"software.main_gradient_precision", "", ""}};
}

void spell_nemo(Words& words, const Framework& framework) {
  if (text_of(words, "model.activation") == "relu")
    throw InputError("model.activation",
                     "found relu, which NeMo has the square of alone; expected gelu, swiglu or geglu");
  const bool flash = take(words, "training.attention") == "flash";
  if (!flash && text_of(words, "training.precision") == "fp8")
    throw InputError("training.attention",
                     "found unfused with fp8, but NeMo's fp8 asks for Transformer Engine's kernel");
  const std::string gradients = take(words, "data_parallel.gradient_precision");
  take_kept_as_summed(words, gradients);
  const std::string zero = text_of(words, "data_parallel.zero");
  const auto bucket = words.find("data_parallel.bucket");
  if (bucket != words.end() && (bucket->second.usual || zero != "1")) {
    if (!bucket->second.usual)
      throw InputError("data_parallel.bucket", "found " + in_quotes(bucket->second.text) +
                                                   ", but NeMo has buckets with distributed_fused_adam, "
                                                   "data_parallel.zero 1, alone");
    words.erase(bucket);
  } else if (bucket != words.end()) {
    constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
    const std::int64_t bytes = std::stoll(bucket->second.text);
    if (bytes % kMebibyte != 0)
      throw InputError("data_parallel.bucket",
                       "found " + in_quotes(bucket->second.text) + ", expected whole MiB: bucket_cap_mb");
    say(words, "@bucket_mib", std::to_string(bytes / kMebibyte));
    words.erase(bucket);
  }
  check_kv_heads(words, framework, SharedKvHeads::refused);
  spell_megatron_core(words, framework);
  for (const char* unsaid : {"@groups", "@checkpoints"}) take(words, unsaid);
  const std::string precision = take(words, "@bf16") == "true"   ? "bf16"
                                : take(words, "@fp16") == "true" ? "fp16"
                                                                 : "fp32";
  say(words, "@precision", precision);
  if (text_of(words, "@fp8") == "true" && take(words, "@fp8_recipe") != "delayed")
    throw InputError("training.scaling", "found another than delayed, the only one that NeMo 1 has");
  say(words, "@engine", flash || text_of(words, "@fp8") == "true" ? "true" : "false");
  say(words, "@flash", flash ? "true" : "false");
  if (zero == "2" || zero == "3")
    say(words, "@fsdp_gradients", gradients);
  else
    say(words, "@gradients", gradients);
  const bool adam = take(words, "@optimizer") == "adam";
  if (zero == "1" && !adam)
    throw InputError("training.optimizer", "found sgd with data_parallel.zero 1, but NeMo shards Adam's state alone");
  take(words, "@shards");
  say(words, "@optim", zero == "1" ? "distributed" : adam ? "fused_adam" : "sgd");
}

void read_nemo(Words& words, const Framework& framework) {
  read_launched_gpus(words);
  const std::string precision = text_of(words, "@precision"), optim = text_of(words, "@optim");
  if (precision != "fp32") say(words, precision == "bf16" ? "@bf16" : "@fp16", "true", "@precision");
  if (optim == "distributed") say(words, "@shards", "true", "@optim");
  say(words, "@optimizer", optim == "sgd" ? "sgd" : "adam", "@optim");
  if (text_of(words, "@virtual_stages") == "1") take(words, "@virtual_stages");
  const bool fsdp = text_of(words, "@fsdp") == "true";
  if (fsdp && !words.contains("@strategy")) say(words, "@strategy", "3", "assumed, NeMo's default: full");
  if (words.contains("@kv_heads")) say(words, "@groups", "true", "@kv_heads");
  if (words.contains("@fp8") && text_of(words, "@fp8") == "true" && text_of(words, "@engine") != "true")
    throw InputError("model.transformer_engine", "found no true beside model.fp8, which asks for it");
  read_megatron_core(words, framework);
  if (!fsdp) say(words, "data_parallel.zero", optim == "distributed" ? "1" : "0", "@optim");
  if (words.contains("training.scaling")) say(words, "training.scaling", "delayed", "the only one that NeMo 1 has");
  const bool flash = text_of(words, "@flash") == "true";
  say(words, "training.attention", flash || text_of(words, "@engine") == "true" ? "flash" : "unfused",
      flash                       ? "@flash"
      : words.contains("@engine") ? "@engine"
                                  : "assumed: neither model.use_flash_attention nor model.transformer_engine");
  // Gradients are summed, and kept, in the type of the optimizer's state where it is not told another.
  const std::string_view own = fsdp ? "@fsdp_gradients" : "@gradients";
  const std::string gradients = words.contains(own) ? text_of(words, own) : "fp32";
  const std::string why = words.contains(own) ? std::string(own) : "assumed: no " + name_in(framework, own);
  say(words, "data_parallel.gradient_precision", gradients, why);
  say(words, "software.main_gradient_precision", gradients, why);
  if (words.contains("@bucket_mib") && optim == "distributed")
    say(words, "data_parallel.bucket", std::to_string(whole_of(words, "@bucket_mib") << 20) + " B", "@bucket_mib");
}

std::vector<std::string> launch_nemo(const Words&, const Launch& launch) {
  return {"srun --nodes " + std::to_string(launch.nodes) + " --ntasks-per-node " +
          std::to_string(launch.gpus_per_node) +
          " python megatron_gpt_pretraining.py --config-path DIRECTORY --config-name FILE"};
}

Statements fill_nemo() {
  return {{.name = "trainer.accelerator", .text = "gpu"},
          {.name = "trainer.max_steps", .text = "100", .comment = "to fill in"},
          {.name = "model.mcore_gpt", .text = "true"},
          {.name = "model.megatron_amp_O2", .text = "true"},
          {.name = "model.optim.lr", .text = "1e-4", .comment = "to fill in"},
          {.name = "model.tokenizer.library", .text = "megatron", .comment = "to fill in"},
          {.name = "model.tokenizer.type", .text = "GPT2BPETokenizer", .comment = "to fill in"},
          {.name = "model.data.data_impl", .text = "mock", .comment = "to fill in: mmap, and data_prefix"}};
}

}  // namespace

extern const Framework nemo;
const Framework nemo{.name = "nemo",
                     .title = "NeMo",
                     .version = "github.com/NVIDIA/NeMo r1.23.0",
                     .software = "nemo-launcher",
                     .syntax = hydra_syntax,
                     .rows = nemo_rows,
                     .fixed = nemo_fixed,
                     .refused = nemo_refused,
                     .ignored = kNemoIgnored,
                     .elsewhere = nemo_elsewhere,
                     .spell = spell_nemo,
                     .read = read_nemo,
                     .launch = launch_nemo,
                     .to_fill = fill_nemo};

}  // namespace stepcast::language
