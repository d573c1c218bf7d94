#include <algorithm>

#include "language/frameworks/launch.h"
#include "language/frameworks/tables/kv_heads.h"
#include "language/frameworks/tables/megatron_core.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/NVIDIA-NeMo/Megatron-Bridge @a9497c6, src/megatron/bridge/training/config.py
// (ConfigContainer), mixed_precision.py and comm_overlap.py, models/gpt_provider.py and mla_provider.py; whole
// configurations are in scripts/performance/dryrun_configs. Fields of `model` are those of Megatron Core's
// TransformerConfig.
namespace stepcast::language {
namespace {

std::vector<FlagRow> bridge_loss_rows() {
  return {
      {.name = "model.cross_entropy_loss_fusion",
       .key = "@fused_loss",
       .usual = "true",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "software.fused_cross_entropy"},
      {.name = "model.cross_entropy_fusion_impl",
       .key = "@loss_kernel",
       .usual = "native",
       .spellings = {{"native", "native"}, {"te", "te"}},
       .remark = "software.fused_cross_entropy"},
  };
}

std::vector<FlagRow> bridge_model_rows() {
  const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}},
      overlap{{"interleaved", "true"}, {"false", "false"}};
  return {
      {.name = "model.pipeline_model_parallel_layout", .key = "@layout", .remark = "parallelism.layers_per_stage"},
      {.name = "model.overlap_p2p_comm",
       .key = "software.pipeline_overlap",
       .usual = "interleaved",
       .spellings = overlap},
      {.name = "model.attention_backend",
       .key = "training.attention",
       .usual = "flash",
       .spellings =
           {{"flash", "flash"}, {"unfused", "unfused"}, {"flash", "fused"}, {"flash", "auto"}, {"unfused", "local"}}},
      {.name = "model.masked_softmax_fusion", .key = "software.fused_softmax", .usual = "true", .spellings = yes_no},
      {.name = "model.bias_activation_fusion", .key = "software.fused_bias_gelu", .usual = "true", .spellings = yes_no},
      {.name = "model.bias_dropout_fusion",
       .key = "software.fused_bias_dropout_add",
       .usual = "true",
       .spellings = yes_no},
      {.name = "model.gradient_accumulation_fusion",
       .key = "software.fused_gradient_accumulation",
       .usual = "true",
       .spellings = yes_no},
      {.name = "model.recompute_granularity",
       .key = "@recompute",
       .spellings = {{"full", "full"}, {"selective", "selective"}},
       .remark = "recompute"},
      {.name = "model.recompute_method",
       .key = "@recompute_method",
       .spellings = {{"uniform", "uniform"}, {"block", "block"}},
       .remark = "recompute"},
      {.name = "model.distribute_saved_activations",
       .key = "software.partition_activations",
       .usual = "false",
       .spellings = yes_no},
      {.name = "model.recompute_num_layers", .key = "@recompute_layers", .remark = "recompute.every or full_layers"},
      {.name = "model.recompute_modules", .key = "@recompute_modules", .remark = "recompute.modules"},
      {.name = "model.normalization",
       .key = "@norm",
       .usual = "layer",
       .spellings = {{"layer", "LayerNorm"}, {"rms", "RMSNorm"}},
       .remark = "model.family"},
      {.name = "model.gated_linear_unit",
       .key = "@gated",
       .usual = "false",
       .spellings = yes_no,
       .remark = "model.activation"},
      {.name = "model.activation_func._target_",
       .key = "@function",
       .usual = "gelu",
       .spellings = {{"gelu", "torch.nn.functional.gelu"},
                     {"silu", "torch.nn.functional.silu"},
                     {"relu", "torch.nn.functional.relu"},
                     {"squared-relu", "megatron.core.activations.squared_relu"}},
       .remark = "model.activation"},
      {.name = "model.add_bias_linear", .key = "model.biases", .usual = "true", .spellings = yes_no},
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
      {.name = "model.multi_latent_attention", .key = "@latent", .spellings = yes_no, .remark = "model.latent"},
      {.name = "model.q_lora_rank", .key = "@query_rank", .remark = "model.latent.query_rank"},
      {.name = "model.kv_lora_rank", .key = "model.latent.kv_rank"},
      {.name = "model.qk_head_dim", .key = "model.latent.head"},
      {.name = "model.qk_pos_emb_head_dim", .key = "model.latent.rotary"},
      {.name = "model.v_head_dim", .key = "model.latent.value"},
      {.name = "model.vocab_size", .key = "model.vocab"},
      {.name = "model.should_pad_vocab", .key = "@pads", .spellings = yes_no, .remark = "software.vocabulary_multiple"},
  };
}

const std::vector<FlagRow>& bridge_rows() {
  static const std::vector<FlagRow> rows = [] {
    const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
    std::vector<FlagRow> all{
        {.name = "--nnodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
        {.name = "--nproc-per-node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
        {.name = "--nproc_per_node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
        {.name = "train.micro_batch_size", .key = "training.micro_batch"},
        {.name = "train.global_batch_size", .key = "training.global_batch"},
        {.name = "model.seq_length", .key = "training.sequence"},
        {.name = "dataset.sequence_length", .key = "training.sequence"},
        {.name = "dataset.seq_length", .key = "training.sequence", .only_read = true},
        {.name = "mixed_precision",
         .key = "@mixed",
         .spellings = {{"bf16", "bf16_mixed"},
                       {"bf16", "bf16-mixed"},
                       {"fp16", "fp16_mixed"},
                       {"fp16", "fp16-mixed"},
                       {"delayed", "bf16_with_fp8_delayed_scaling_mixed"},
                       {"current", "bf16_with_fp8_current_scaling_mixed"},
                       {"mxfp8", "bf16_with_mxfp8_mixed"}},
         .only_read = true,
         .remark = "training.precision"},
        {.name = "mixed_precision.bf16", .key = "@bf16", .spellings = yes_no, .remark = "training.precision"},
        {.name = "mixed_precision.fp16", .key = "@fp16", .spellings = yes_no, .remark = "training.precision"},
        {.name = "mixed_precision.fp32", .key = "@fp32", .spellings = yes_no, .remark = "training.precision"},
        {.name = "mixed_precision.fp8",
         .key = "@fp8",
         .spellings = {{"true", "hybrid"}, {"true", "e4m3"}},
         .remark = "training.precision"},
        {.name = "mixed_precision.fp8_recipe",
         .key = "@fp8_recipe",
         .spellings = {{"delayed", "delayed"}, {"current", "tensorwise"}, {"mxfp8", "mxfp8"}},
         .remark = "training.scaling"},
        {.name = "mixed_precision.params_dtype._target_",
         .key = "@type",
         .spellings =
             {{"bf16", "torch.bfloat16"}, {"fp16", "torch.float16"}, {"fp16", "torch.half"}, {"fp32", "torch.float32"}},
         .remark = "training.precision"},
        {.name = "mixed_precision.pipeline_dtype._target_",
         .key = "@pipeline_type",
         .spellings =
             {{"bf16", "torch.bfloat16"}, {"fp16", "torch.float16"}, {"fp16", "torch.half"}, {"fp32", "torch.float32"}},
         .remark = "training.precision"},
        {.name = "mixed_precision.reuse_grad_buf_for_mxfp8_param_ag",
         .key = "@reuses",
         .spellings = yes_no,
         .remark = "mxfp8's fp8_param_gather asks for it"},
        {.name = "mixed_precision.fp8_param_gather", .key = "training.eight_bit_parameters", .spellings = yes_no},
        {.name = "mixed_precision.first_last_layers_bf16",
         .key = "@bf16_ends",
         .spellings = yes_no,
         .remark = "the next two"},
        {.name = "mixed_precision.num_layers_at_start_in_bf16",
         .key = "@bf16_start",
         .remark = "training.bf16_layers_at_start"},
        {.name = "mixed_precision.num_layers_at_end_in_bf16",
         .key = "@bf16_end",
         .remark = "training.bf16_layers_at_end"},
        {.name = "mixed_precision.grad_reduce_in_fp32",
         .key = "@wide_gradients",
         .spellings = yes_no,
         .remark = "data_parallel.gradient_precision"},
        {.name = "ddp.grad_reduce_in_fp32",
         .key = "@ddp_wide_gradients",
         .spellings = yes_no,
         .only_read = true,
         .remark = "data_parallel.gradient_precision"},
        {.name = "ddp.use_distributed_optimizer",
         .key = "@shards",
         .usual = "true",
         .spellings = yes_no,
         .remark = "data_parallel.zero"},
        {.name = "ddp.num_distributed_optimizer_instances", .key = "@instances", .remark = "data_parallel.shard_group"},
        {.name = "ddp.use_megatron_fsdp", .key = "@fsdp", .spellings = yes_no, .remark = "data_parallel.zero"},
        {.name = "dist.use_megatron_fsdp", .key = "@dist_fsdp", .spellings = yes_no, .remark = "data_parallel.zero"},
        {.name = "ddp.data_parallel_sharding_strategy",
         .key = "@strategy",
         .spellings = {{"0", "no_shard"}, {"1", "optim"}, {"2", "optim_grads"}, {"3", "optim_grads_params"}},
         .remark = "data_parallel.zero"},
        {.name = "checkpoint.ckpt_format", .key = "@checkpoints", .remark = "the only one for Megatron FSDP"},
        {.name = "ddp.overlap_grad_reduce", .key = "data_parallel.overlap", .usual = "true", .spellings = yes_no},
        {.name = "comm_overlap.overlap_grad_reduce",
         .key = "data_parallel.overlap",
         .spellings = yes_no,
         .only_read = true},
        {.name = "ddp.overlap_param_gather",
         .key = "@overlap_gather",
         .spellings = yes_no,
         .remark = "data_parallel.overlap"},
        {.name = "ddp.bucket_size", .key = "@bucket", .remark = "data_parallel.bucket, in numbers"},
        {.name = "dist.use_tp_pp_dp_mapping",
         .key = "@pipeline_inside_data",
         .spellings = yes_no,
         .remark = "parallelism.order"},
        {.name = "comm_overlap.tp_comm_overlap",
         .key = "software.tensor_overlap",
         .usual = "none",
         .spellings = {{"all", "true"}, {"none", "false"}}},
        {.name = "optimizer.optimizer",
         .key = "@optimizer",
         .usual = "adam",
         .spellings = {{"adam", "adam"}, {"sgd", "sgd"}},
         .remark = "training.optimizer"},
        {.name = "optimizer.sgd_momentum", .key = "@momentum", .remark = "training.optimizer"},
        {.name = "optimizer.optimizer_cpu_offload",
         .key = "@offload",
         .spellings = yes_no,
         .remark = "offload.optimizer"},
        {.name = "optimizer.use_precision_aware_optimizer",
         .key = "@aware",
         .spellings = yes_no,
         .remark = "optimizer.optimizer_cpu_offload asks for it"},
        {.name = "peft._target_",
         .key = "@peft",
         .spellings = {{"lora", "megatron.bridge.peft.lora.LoRA"}},
         .remark = "training.lora"},
        {.name = "peft.dim", .key = "training.lora.rank"},
        {.name = "peft.dropout", .key = "training.lora.dropout"},
        {.name = "peft.target_modules", .key = "@targets", .remark = "training.lora.target_modules"},
        {.name = "peft.a2a_experimental", .key = "software.adapter_all_to_all", .spellings = yes_no},
        {.name = "model.activation_func_fp8_input_store", .key = "software.fp8_input_store", .spellings = yes_no},
    };
    std::ranges::move(transformer_config_rows(), std::back_inserter(all));
    std::ranges::move(bridge_model_rows(), std::back_inserter(all));
    std::ranges::move(bridge_loss_rows(), std::back_inserter(all));
    return all;
  }();
  return rows;
}

std::vector<FixedKey> bridge_fixed() { return {}; }

std::vector<RefusedName> bridge_refused() {
  std::vector<RefusedName> all = transformer_config_refused();
  std::erase_if(all, [](const RefusedName& each) { return each.name == "parallelism.order"; });
  const std::vector<RefusedName> own{
      {"--recipe", "is Python, which is not read; give --set model=NAME and the sizes that it sets", "", "model"},
      {"peft.exclude_modules", "changes the answer and has no key; give peft.target_modules", "[]"},
      {"peft.dropout_position", "changes the answer and has no key; expected pre", "pre"},
      {"peft.share_expert_adapters", "changes the answer: here each expert has adapters of its own; expected false",
       "false"},
      {"dist.use_torch_fsdp2", "changes the answer and is not modelled with this stack; expected false", "false"},
      {"ddp.use_custom_fsdp", "leave it out and give ddp.use_megatron_fsdp", "false"},
      {"ddp.outer_dp_sharding_strategy", "changes the answer and has no key yet; expected no_shard", "no_shard"},
      {"mixed_precision.fp4", "changes the answer; give --set training.precision=nvfp4", "", "training.precision"},
      {"optimizer.main_grads_dtype._target_", "changes the answer; give --set software.main_gradient_precision",
       "torch.float32", "software.main_gradient_precision"},
      {"optimizer.main_params_dtype._target_", "changes the answer and has no key; expected torch.float32",
       "torch.float32"},
      {"optimizer.exp_avg_dtype._target_", "changes the answer; give --set software.moment_precision", "torch.float32",
       "software.moment_precision"},
      {"optimizer.exp_avg_sq_dtype._target_", "changes the answer; give --set software.moment_precision",
       "torch.float32", "software.moment_precision"},
      {"model.transformer_impl", "changes the answer and has no key; expected transformer_engine",
       "transformer_engine"},
      {"model.is_hybrid_model", "changes the answer: expected a decoder of one kind of layer", "false"},
      {"model.experimental_attention_variant", "changes the answer and has no key"},
      {"model.tp_comm_overlap", "expected comm_overlap.tp_comm_overlap, which it is set from", "false"},
      {"train.rampup_batch_size", "changes the batch from step to step; expected train.global_batch_size alone"},
      {"parallelism.order",
       "it has tensor, context, data, pipeline or, with dist.use_tp_pp_dp_mapping, pipeline before "
       "data"},
      {"training.precision", "it has bf16, fp16, fp32, fp8 and mxfp8"},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

constexpr std::string_view kBridgeIgnored =
    "_target_ checkpoint._target_ checkpoint.async* checkpoint.auto* checkpoint.ckpt_* checkpoint.custom* "
    "checkpoint.dist* checkpoint.exit* checkpoint.finetune checkpoint.fully* checkpoint.load* checkpoint.most* "
    "checkpoint.non_* checkpoint.pretrained* checkpoint.replication* checkpoint.save* checkpoint.storage* "
    "checkpoint.strict* checkpoint.use_* comm_overlap._target_ comm_overlap.align* comm_overlap.batch_p2p_comm "
    "comm_overlap.data_parallel_size comm_overlap.defer* comm_overlap.delay* comm_overlap.overlap_p2p_comm "
    "comm_overlap.overlap_param* comm_overlap.overlap_moe* comm_overlap.tp_comm_bootstrap* "
    "comm_overlap.tp_comm_overlap_cfg* comm_overlap.wgrad* dataset.* ddp._target_ ddp.align* ddp.average* "
    "ddp.check_* ddp.delay* ddp.disable* ddp.fp8_param_gather ddp.fsdp_* ddp.gradient_reduce* ddp.keep_* "
    "ddp.megatron_fsdp_* ddp.nccl_ub ddp.overlap_param_gather_with* ddp.pad_* ddp.param_name* ddp.reduce_* "
    "ddp.reuse_* dist._target_ dist.align* dist.disable* dist.distributed* dist.enable_megatron_core* dist.external* "
    "dist.flight* dist.high_priority* dist.lazy* dist.local_rank dist.nccl* dist.sharp* dist.use_decentralized* "
    "dist.use_gloo* dist.use_sharp logger.* mixed_precision._target_ mixed_precision.autocast* "
    "mixed_precision.fp4_recipe mixed_precision.fp8_amax* mixed_precision.fp8_dot* mixed_precision.fp8_margin "
    "mixed_precision.fp8_multi* mixed_precision.fp8_param mixed_precision.fp8_wgrad mixed_precision.hysteresis "
    "mixed_precision.initial* mixed_precision.loss* mixed_precision.min_loss* mixed_precision.params_dtype._call_ "
    "mixed_precision.pipeline_dtype._call_ model._target_ model.activation_func._call_ "
    "model.activation_func_* model.apply_query* model.apply_rope* model.attention_output* model.attention_softmax* "
    "model.autocast* model.barrier* model.batch_* model.beta_* model.bf16 model.cache_mla* model.calculate* "
    "model.clone* model.config_logger* model.cpu_offloading_* model.cuda_graph_* "
    "model.deallocate* model.defer* model.delay* model.disable* model.distribute* model.dsa_* model.embedding_init* "
    "model.enable_autocast model.ep_overlap* model.fine_grained* model.first_last* model.flash_decode model.fp16* "
    "model.fp4* model.fp8* model.fused_* model.generation* model.glu_* model.hetereo* model.heterogeneous* "
    "model.hf_model_id model.hybrid_context* model.inference* model.init_* model.kitchen* model.layernorm* "
    "model.linear_* model.log_* model.mamba* model.max_position* model.memory_efficient* model.min_offloaded* "
    "model.mla_* model.mlp_chunks* model.moe_apply* model.moe_aux* model.moe_deepep* model.moe_enable_routing* "
    "model.moe_flex* model.moe_hybridep* model.moe_input* model.moe_layer_recompute model.moe_pad_experts* "
    "model.moe_per* model.moe_router_bias* model.moe_router_dtype model.moe_router_enable* model.moe_router_force* "
    "model.moe_router_fusion model.moe_router_load* model.moe_router_padding* model.moe_router_pre* "
    "model.moe_router_score* model.moe_router_topk_* model.moe_shared_expert_gate model.moe_token_drop* "
    "model.moe_z_loss* model.mscale* model.mtp_* model.mup_* model.nccl_* model.num_layers_at_* model.original_* "
    "model.overlap_p2p_comm_* model.parallel_output model.params_dtype* model.perform* model.persist* "
    "model.pipeline_dtype* model.pipeline_model_parallel_comm_backend model.qk_clip* model.qk_l2_norm "
    "model.restore* model.rope_* model.rotary_* model.scatter* model.seq_len_interpolation* model.softmax_* "
    "model.test_mode model.tp_comm_* model.tp_only* model.transformer_layer_spec* model.use_* model.variable* "
    "model.wgrad* model.yarn_* optimizer._target_ optimizer.adam_* optimizer.apply_wd* optimizer.barrier* "
    "optimizer.bf16 optimizer.clip_grad optimizer.config_logger* optimizer.decoupled* optimizer.exp_avg_dtype._call_ "
    "optimizer.exp_avg_sq_dtype._call_ optimizer.fp16 optimizer.hysteresis optimizer.initial* optimizer.lion* "
    "optimizer.log_* optimizer.loss* optimizer.lr optimizer.main_grads_dtype._call_ "
    "optimizer.main_params_dtype._call_ optimizer.min_* optimizer.muon* optimizer.optimizer_offload_fraction "
    "optimizer.overlap* optimizer.params_dtype* optimizer.pin_* optimizer.reuse* optimizer.store* "
    "optimizer.use_distributed_optimizer optimizer.use_torch* optimizer.weight_decay optimizer_config_override* "
    "peft.alpha peft.lora_* peft.network_alpha "
    "profiling.* rerun_state_machine.* rng.* scheduler.* tokenizer.* train._target_ train.check* train.decrease* "
    "train.empty* train.eval* train.exit* train.iterations* train.manual* train.skip* train.train_* validation.* "
    "--master* --node* --rdzv*";

std::vector<FixedKey> bridge_elsewhere() {
  return {{"software.main_gradient_precision", "", ""},
          {"training.document_length", "", "packed samples of the data set"}};
}

/// Megatron's linear layers have names of their own, and gate and up, or queries, keys and values, are one.
void spell_adapters(Words& words) {
  const std::string targets = take(words, "training.lora.target_modules");
  if (targets.empty()) return;
  for (const std::string_view apart : {"q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"})
    if (targets.find(apart) != targets.npos)
      throw InputError("training.lora.target_modules",
                       "found " + in_quotes(targets) + ", but Megatron Bridge has no " + std::string(apart) +
                           "; expected linear_qkv, linear_proj, linear_fc1, linear_fc2");
  say(words, "@targets", targets);
  say(words, "@peft", "lora");
}

void spell_bridge(Words& words, const Framework& framework) {
  const std::string gradients = take(words, "data_parallel.gradient_precision");
  const std::string precision = text_of(words, "training.precision"), zero = text_of(words, "data_parallel.zero");
  const std::string narrow = precision == "fp16" ? "fp16" : precision == "fp32" ? "fp32" : "bf16";
  if (gradients != "fp32" && gradients != narrow)
    throw InputError("data_parallel.gradient_precision", "found " + in_quotes(gradients) +
                                                             ", which Megatron Bridge has "
                                                             "not with training.precision " +
                                                             precision + "; expected " + narrow + " or fp32");
  take_kept_as_summed(words, gradients);
  if (text_of(words, "model.activation") == "clamped-swiglu")
    throw InputError("model.activation",
                     "found 'clamped-swiglu', expected one of gelu, relu, squared-relu, swiglu, geglu");
  const std::string activation = take(words, "model.activation");
  if (!activation.empty()) {
    const bool gated = activation == "swiglu" || activation == "geglu";
    say(words, "@gated", gated ? "true" : "false");
    say(words, "@function", activation == "swiglu" ? "silu" : activation == "geglu" ? "gelu" : activation);
  }
  if (const auto bucket = words.find("data_parallel.bucket"); bucket != words.end() && !bucket->second.usual) {
    const std::int64_t element = gradients == "fp32" ? 4 : 2, bytes = std::stoll(bucket->second.text);
    if (bytes % element != 0)
      throw InputError("data_parallel.bucket", "found " + std::to_string(bytes) +
                                                   " bytes, expected whole gradients of " + std::to_string(element) +
                                                   " bytes each");
    say(words, "@bucket", std::to_string(bytes / element));
    words.erase(bucket);
  }
  if (const std::string positions = text_of(words, "model.positions");
      !positions.empty() && positions != text_of(words, "training.sequence"))
    throw InputError("model.positions",
                     "found " + positions + ", but Megatron Bridge has as many as training.sequence");
  check_kv_heads(words, framework, SharedKvHeads::allowed);
  spell_adapters(words);
  spell_instances(words);
  spell_megatron_core(words, framework);
  say(words, "@wide_gradients", gradients == "fp32" ? "true" : "false");
  if (!words.contains("@bf16") && !words.contains("@fp16")) say(words, "@fp32", "true");
  if (zero == "2" || zero == "3") say(words, "@dist_fsdp", "true");
  say(words, "@shards", zero == "0" ? "false" : "true");
  for (const char* unsaid : {"@groups", "@positions"}) take(words, unsaid);
  say(words, "@pads", "true");
  const char* type = words.contains("@bf16") ? "bf16" : words.contains("@fp16") ? "fp16" : "fp32";
  say(words, "@type", type);
  say(words, "@pipeline_type", type);
  if (precision == "mxfp8" && text_of(words, "training.eight_bit_parameters") == "true") say(words, "@reuses", "true");
}

void read_bridge(Words& words, const Framework& framework) {
  read_launched_gpus(words);
  const std::string mixed = text_of(words, "@mixed");
  if (!mixed.empty()) {
    say(words, mixed == "fp16" ? "@fp16" : "@bf16", "true", "@mixed");
    if (mixed == "fp16") say(words, "@wide_gradients", "false", "@mixed");
    if (mixed != "fp16" && mixed != "bf16") {
      say(words, "@fp8", "true", "@mixed");
      say(words, "@fp8_recipe", mixed, "@mixed");
      say(words, "training.eight_bit_parameters", "true", "@mixed");
    }
    if (mixed == "current") say(words, "@bf16_ends", "true", "@mixed");  // one layer at each end
  } else if (!words.contains("@bf16") && !words.contains("@fp16") && !words.contains("@fp32")) {
    say(words, "@bf16", "true", "assumed, what its recipes say: no mixed_precision");
  }
  if (!words.contains("@fp8")) take(words, "@fp8_recipe");
  if (words.contains("@fp8") && !words.contains("@fp8_recipe"))
    say(words, "@fp8_recipe", "current", "assumed, Megatron Bridge's default: tensorwise");
  if (text_of(words, "@type") == "fp32" && (text_of(words, "@bf16") == "true" || text_of(words, "@fp16") == "true"))
    refuse(words, "@type", "the type of mixed precision: parameters of another are not modelled");
  if (text_of(words, "@virtual_stages") == "1") take(words, "@virtual_stages");
  if (text_of(words, "@dist_fsdp") == "true") say(words, "@fsdp", "true", "@dist_fsdp");
  if (words.contains("@kv_heads")) say(words, "@groups", "true", "@kv_heads");
  const bool gated = text_of(words, "@gated") == "true";
  const std::string function = text_of(words, "@function");
  if (words.contains("model.layers"))
    say(words, "model.activation", !gated ? function : function == "silu" ? "swiglu" : "geglu", "@function");
  if (words.contains("model.layers") && (gated ? function.ends_with("relu") : function == "silu"))
    refuse(words, "@function", gated ? "silu or gelu beside model.gated_linear_unit" : "gelu or relu: it has no gate");
  if (words.contains("model.vocab") && text_of(words, "@pads") != "true")
    say(words, "software.vocabulary_multiple", "1",
        words.contains("@pads") ? "@pads" : "assumed: no model.should_pad_vocab");
  read_megatron_core(words, framework);
  if ((words.contains("@peft") || words.contains("@targets")) && !words.contains("training.lora.rank"))
    say(words, "training.lora.rank", "32", "assumed, the default of its LoRA: no peft.dim");
  if (words.contains("@targets"))
    say(words, "training.lora.target_modules", list_of_names(text_of(words, "@targets")), "@targets");
  read_instances(words);
  // mixed_precision is laid over ddp.
  const std::string_view own = words.contains("@wide_gradients") ? "@wide_gradients" : "@ddp_wide_gradients";
  const bool wide = !words.contains(own) || text_of(words, own) == "true";
  const std::string precision = text_of(words, "training.precision");
  const std::string gradients = wide || precision == "fp32" ? "fp32" : precision == "fp16" ? "fp16" : "bf16";
  const std::string why =
      words.contains(own) ? std::string(own) : "assumed, what its recipes say: no mixed_precision.grad_reduce_in_fp32";
  say(words, "data_parallel.gradient_precision", gradients, why);
  say(words, "software.main_gradient_precision", gradients, why);
  if (words.contains("@bucket"))
    say(words, "data_parallel.bucket",
        std::to_string(whole_of(words, "@bucket") * (gradients == "fp32" ? 4 : 2)) + " B", "@bucket");
}

std::vector<std::string> launch_bridge(const Words&, const Launch& launch) {
  return {torchrun(launch, "PRETRAIN.py --config-file FILE")};
}

Statements fill_bridge() {
  return {{.name = "mixed_precision._target_", .text = "megatron.bridge.training.mixed_precision.MixedPrecisionConfig"},
          {.name = "mixed_precision.params_dtype._call_", .text = "false"},
          {.name = "mixed_precision.pipeline_dtype._call_", .text = "false"},
          {.name = "model.activation_func._call_", .text = "false"},
          {.name = "train.train_iters", .text = "100", .comment = "to fill in"},
          {.name = "optimizer.lr", .text = "1e-4", .comment = "to fill in"},
          {.name = "optimizer.min_lr", .text = "1e-5", .comment = "to fill in"},
          {.name = "tokenizer.tokenizer_type", .text = "NullTokenizer", .comment = "to fill in"}};
}

}  // namespace

extern const Framework megatron_bridge;
const Framework megatron_bridge{.name = "megatron-bridge",
                                .title = "Megatron Bridge",
                                .version = "github.com/NVIDIA-NeMo/Megatron-Bridge @a9497c6",
                                .software = "megatron-bridge",
                                .syntax = hydra_syntax,
                                .rows = bridge_rows,
                                .fixed = bridge_fixed,
                                .refused = bridge_refused,
                                .ignored = kBridgeIgnored,
                                .elsewhere = bridge_elsewhere,
                                .spell = spell_bridge,
                                .read = read_bridge,
                                .launch = launch_bridge,
                                .to_fill = fill_bridge};

}  // namespace stepcast::language
