#include "language/frameworks/launch.h"
#include "language/frameworks/tables/kv_heads.h"
#include "language/frameworks/tables/megatron_core.h"

// Names and meanings: github.com/NVIDIA/Megatron-LM, release core_v0.14.0 (@23e00ed), megatron/training/arguments.py;
// what a flag implies is its validate_args().
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& megatron_rows() {
  static const std::vector<FlagRow> rows{
      {.name = "--nnodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc-per-node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc_per_node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_nodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--num_gpus", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--gpus-per-node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--tensor-model-parallel-size", .key = "parallelism.tensor", .usual = "1"},
      {.name = "--pipeline-model-parallel-size", .key = "parallelism.pipeline", .usual = "1"},
      {.name = "--context-parallel-size", .key = "parallelism.context", .usual = "1"},
      {.name = "--cp-comm-type",
       .key = "parallelism.context_method",
       .usual = "ring",
       .spellings = {{"ring", "p2p"}, {"all-gather", "allgather"}, {"all-gather", "all_gather"}, {"ulysses", "a2a"}}},
      {.name = "--expert-model-parallel-size", .key = "parallelism.expert", .usual = "1"},
      {.name = "--expert-tensor-parallel-size", .key = "parallelism.expert_tensor"},
      {.name = "--sequence-parallel", .key = "parallelism.sequence", .usual = "false", .present = "true"},
      {.name = "--use-tp-pp-dp-mapping",
       .key = "@pipeline_inside_data",
       .present = "true",
       .remark = "parallelism.order"},
      {.name = "--num-virtual-stages-per-pipeline-rank", .key = "@virtual_stages", .remark = "pipeline.virtual_stages"},
      {.name = "--num-layers-per-virtual-pipeline-stage",
       .key = "@layers_per_chunk",
       .only_read = true,
       .remark = "pipeline.virtual_stages"},
      {.name = "--microbatch-group-size-per-virtual-pipeline-stage", .key = "pipeline.micro_batch_group"},
      {.name = "--pipeline-model-parallel-layout", .key = "@layout", .remark = "parallelism.layers_per_stage"},
      {.name = "--decoder-first-pipeline-num-layers",
       .key = "@first_layers",
       .only_read = true,
       .remark = "parallelism.layers_per_stage"},
      {.name = "--decoder-last-pipeline-num-layers",
       .key = "@last_layers",
       .only_read = true,
       .remark = "parallelism.layers_per_stage"},
      {.name = "--account-for-embedding-in-pipeline-split", .key = "pipeline.embedding_as_layer", .present = "true"},
      {.name = "--account-for-loss-in-pipeline-split", .key = "pipeline.head_as_layer", .present = "true"},
      {.name = "--no-overlap-p2p-communication",
       .key = "software.pipeline_overlap",
       .usual = "interleaved",
       .present = "false"},
      {.name = "--micro-batch-size", .key = "training.micro_batch"},
      {.name = "--global-batch-size", .key = "training.global_batch"},
      {.name = "--seq-length", .key = "training.sequence"},
      {.name = "--bf16", .key = "@bf16", .present = "true", .remark = "training.precision"},
      {.name = "--fp16", .key = "@fp16", .present = "true", .remark = "training.precision"},
      {.name = "--fp8-format",
       .key = "@fp8",
       .spellings = {{"true", "hybrid"}, {"true", "e4m3"}},
       .remark = "training.precision"},
      {.name = "--fp8-recipe",
       .key = "@fp8_recipe",
       .spellings = {{"delayed", "delayed"}, {"current", "tensorwise"}, {"mxfp8", "mxfp8"}},
       .remark = "training.scaling"},
      {.name = "--fp8-param-gather", .key = "training.eight_bit_parameters", .present = "true"},
      {.name = "--first-last-layers-bf16", .key = "@bf16_ends", .present = "true", .remark = "the next two"},
      {.name = "--num-layers-at-start-in-bf16", .key = "@bf16_start", .remark = "training.bf16_layers_at_start"},
      {.name = "--num-layers-at-end-in-bf16", .key = "@bf16_end", .remark = "training.bf16_layers_at_end"},
      {.name = "--optimizer",
       .key = "@optimizer",
       .usual = "adam",
       .spellings = {{"adam", "adam"}, {"sgd", "sgd"}},
       .remark = "training.optimizer"},
      {.name = "--sgd-momentum", .key = "@momentum", .remark = "training.optimizer"},
      {.name = "--attention-backend",
       .key = "training.attention",
       .usual = "flash",
       .spellings =
           {{"flash", "flash"}, {"unfused", "unfused"}, {"flash", "fused"}, {"flash", "auto"}, {"unfused", "local"}}},
      {.name = "--use-flash-attn", .key = "training.attention", .present = "flash", .only_read = true},
      {.name = "--recompute-granularity",
       .key = "@recompute",
       .spellings = {{"full", "full"}, {"selective", "selective"}},
       .remark = "recompute"},
      {.name = "--recompute-activations",
       .key = "@recompute",
       .present = "selective",
       .only_read = true,
       .remark = "recompute"},
      {.name = "--activations-checkpoint-method",
       .key = "@checkpoint_method",
       .spellings = {{"uniform", "uniform"}, {"block", "block"}},
       .only_read = true,
       .remark = "recompute, before core_v0.3"},
      {.name = "--checkpoint-activations",
       .key = "@checkpoint_method",
       .present = "uniform",
       .only_read = true,
       .remark = "recompute, before core_v0.3"},
      {.name = "--recompute-method",
       .key = "@recompute_method",
       .spellings = {{"uniform", "uniform"}, {"block", "block"}},
       .remark = "recompute"},
      {.name = "--distribute-saved-activations",
       .key = "software.partition_activations",
       .usual = "false",
       .present = "true"},
      {.name = "--recompute-num-layers", .key = "@recompute_layers", .remark = "recompute.every or full_layers"},
      {.name = "--recompute-modules", .key = "@recompute_modules", .remark = "recompute.modules"},
      {.name = "--use-distributed-optimizer", .key = "@shards", .present = "optimizer", .remark = "data_parallel.zero"},
      {.name = "--zero-stage",
       .key = "@zero_stage",
       .spellings = {{"0", "0"}, {"1", "1"}, {"2", "2"}, {"3", "3"}},
       .only_read = true,
       .remark = "data_parallel.zero, in Megatron-DeepSpeed"},
      {.name = "--num-distributed-optimizer-instances", .key = "@instances", .remark = "data_parallel.shard_group"},
      {.name = "--use-megatron-fsdp", .key = "@fsdp", .present = "true", .remark = "data_parallel.zero"},
      {.name = "--use-custom-fsdp",
       .key = "@fsdp",
       .present = "true",
       .only_read = true,
       .remark = "data_parallel.zero"},
      {.name = "--data-parallel-sharding-strategy",
       .key = "@strategy",
       .spellings = {{"0", "no_shard"}, {"1", "optim"}, {"2", "optim_grads"}, {"3", "optim_grads_params"}},
       .remark = "data_parallel.zero"},
      {.name = "--ckpt-format", .key = "@checkpoints", .remark = "the only one for Megatron FSDP"},
      {.name = "--overlap-grad-reduce", .key = "data_parallel.overlap", .usual = "false", .present = "true"},
      {.name = "--overlap-param-gather",
       .key = "@overlap_gather",
       .present = "true",
       .remark = "data_parallel.overlap"},
      {.name = "--ddp-bucket-size", .key = "@bucket", .remark = "data_parallel.bucket, in numbers"},
      {.name = "--grad-reduce-in-bf16",
       .key = "@gradients_bf16",
       .present = "true",
       .remark = "data_parallel.gradient_precision"},
      {.name = "--accumulate-allreduce-grads-in-fp32",
       .key = "@gradients_fp32",
       .present = "true",
       .remark = "data_parallel.gradient_precision"},
      {.name = "--optimizer-cpu-offload", .key = "@offload", .present = "true", .remark = "offload.optimizer"},
      {.name = "--use-precision-aware-optimizer",
       .key = "@aware",
       .present = "true",
       .remark = "--optimizer-cpu-offload asks for it"},
      {.name = "--tp-comm-overlap", .key = "software.tensor_overlap", .usual = "none", .present = "all"},
      {.name = "--cross-entropy-loss-fusion",
       .key = "@fused_loss",
       .usual = "false",
       .present = "true",
       .remark = "software.fused_cross_entropy"},
      {.name = "--cross-entropy-fusion-impl",
       .key = "@loss_kernel",
       .usual = "native",
       .spellings = {{"native", "native"}, {"te", "te"}},
       .remark = "software.fused_cross_entropy"},
      {.name = "--no-bias-gelu-fusion", .key = "software.fused_bias_gelu", .usual = "true", .present = "false"},
      {.name = "--no-bias-swiglu-fusion", .key = "software.fused_bias_gelu", .present = "false", .only_read = true},
      {.name = "--no-masked-softmax-fusion", .key = "software.fused_softmax", .usual = "true", .present = "false"},
      {.name = "--no-bias-dropout-fusion",
       .key = "software.fused_bias_dropout_add",
       .usual = "true",
       .present = "false"},
      {.name = "--no-gradient-accumulation-fusion",
       .key = "software.fused_gradient_accumulation",
       .usual = "true",
       .present = "false"},
      {.name = "--moe-grouped-gemm", .key = "software.grouped_multiply", .present = "true"},
      {.name = "--num-layers", .key = "model.layers"},
      {.name = "--hidden-size", .key = "model.hidden"},
      {.name = "--ffn-hidden-size", .key = "model.ffn"},
      {.name = "--num-attention-heads", .key = "model.heads"},
      {.name = "--group-query-attention", .key = "@groups", .present = "true", .remark = "model.kv_heads"},
      {.name = "--num-query-groups", .key = "@kv_heads", .remark = "model.kv_heads"},
      {.name = "--num-key-value-heads",
       .key = "@key_value_heads",
       .only_read = true,
       .remark = "model.kv_heads, in Megatron-DeepSpeed"},
      {.name = "--kv-channels", .key = "model.head_width"},
      {.name = "--max-position-embeddings", .key = "@positions", .remark = "at least training.sequence"},
      {.name = "--position-embedding-type",
       .key = "model.position_encoding",
       .usual = "learned",
       .spellings = {{"learned", "learned_absolute"},
                     {"rotary", "rope"},
                     {"none", "none"},
                     {"learned", "absolute", true},
                     {"rotary", "rotary", true},
                     {"alibi", "alibi", true}}},
      {.name = "--use-rotary-position-embeddings",
       .key = "model.position_encoding",
       .present = "rotary",
       .only_read = true},
      {.name = "--use-alibi-position-embeddings",
       .key = "model.position_encoding",
       .present = "alibi",
       .only_read = true,
       .remark = "model.position_encoding, in Intel's fork of Megatron-DeepSpeed"},
      {.name = "--embed-layernorm",
       .key = "model.embedding_norm",
       .present = "true",
       .only_read = true,
       .remark = "model.embedding_norm, in BigScience's Megatron-DeepSpeed"},
      {.name = "--normalization",
       .key = "@norm",
       .usual = "layer",
       .spellings =
           {{"layer", "LayerNorm"}, {"rms", "RMSNorm"}, {"layer", "layernorm", true}, {"rms", "rmsnorm", true}},
       .remark = "model.family"},
      {.name = "--swiglu", .key = "model.activation", .usual = "gelu", .present = "swiglu"},
      {.name = "--squared-relu", .key = "model.activation", .present = "squared-relu"},
      {.name = "--untie-embeddings-and-output-weights", .key = "model.tied_head", .usual = "true", .present = "false"},
      {.name = "--disable-bias-linear", .key = "model.biases", .usual = "true", .present = "false"},
      {.name = "--add-qkv-bias", .key = "model.qkv_bias", .usual = "false", .present = "true"},
      {.name = "--qk-layernorm", .key = "model.qk_norm", .usual = "false", .present = "true"},
      {.name = "--attention-dropout", .key = "@attention_dropout", .usual = "0.1", .remark = "model.dropout"},
      {.name = "--hidden-dropout", .key = "@hidden_dropout", .usual = "0.1", .remark = "model.dropout"},
      {.name = "--mtp-num-layers", .key = "model.mtp_layers"},
      {.name = "--attention-output-gate", .key = "model.attention_gate", .present = "true"},
      {.name = "--is-hybrid-model", .key = "@hybrid", .present = "true", .remark = "model.pattern"},
      {.name = "--spec", .key = "@spec", .remark = "model.pattern"},
      {.name = "--hybrid-override-pattern",
       .key = "model.pattern",
       .remark = "model.pattern; its E from core_v0.16.0 on"},
      {.name = "--hybrid-layer-pattern", .key = "model.pattern", .only_read = true},
      {.name = "--mamba-num-heads", .key = "model.mamba.heads"},
      {.name = "--mamba-head-dim", .key = "model.mamba.head"},
      {.name = "--mamba-state-dim", .key = "model.mamba.state"},
      {.name = "--mamba-num-groups", .key = "model.mamba.groups"},
      {.name = "--num-experts", .key = "model.experts.count"},
      {.name = "--moe-router-topk", .key = "model.experts.active"},
      {.name = "--moe-ffn-hidden-size", .key = "model.experts.ffn"},
      {.name = "--moe-shared-expert-intermediate-size", .key = "@shared_ffn", .remark = "model.experts.shared_ffn"},
      {.name = "--moe-latent-size",
       .key = "model.experts.latent",
       .remark = "model.experts.latent; of releases behind core_v0.16.0"},
      {.name = "--moe-layer-freq", .key = "@expert_layers", .remark = "model.experts.dense_layers"},
      {.name = "--moe-expert-capacity-factor", .key = "training.experts.capacity"},
      {.name = "--moe-pad-expert-input-to-capacity",
       .key = "@padded",
       .present = "true",
       .remark = "training.experts.capacity"},
      {.name = "--moe-token-dispatcher-type",
       .key = "@dispatcher",
       .spellings = {{"alltoall", "alltoall"}, {"alltoall", "flex"}, {"allgather", "allgather"}},
       .remark = "tokens travel to their experts' ranks"},
      {.name = "--multi-latent-attention", .key = "@latent", .present = "true", .remark = "model.latent"},
      {.name = "--q-lora-rank", .key = "@query_rank", .remark = "model.latent.query_rank"},
      {.name = "--kv-lora-rank", .key = "model.latent.kv_rank"},
      {.name = "--qk-head-dim", .key = "model.latent.head"},
      {.name = "--qk-pos-emb-head-dim", .key = "model.latent.rotary"},
      {.name = "--v-head-dim", .key = "model.latent.value"},
      {.name = "--make-vocab-size-divisible-by", .key = "software.vocabulary_multiple", .usual = "128"},
      {.name = "--vocab-size", .key = "@vocab", .remark = "model.vocab: NullTokenizer adds one"},
      {.name = "--tokenizer-type", .key = "@tokenizer", .remark = "model.vocab"},
  };
  return rows;
}

/// The layers of its models that have not attention in all of them.
constexpr std::string_view kHybridLayers = "megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec";

std::vector<FixedKey> megatron_fixed() { return {}; }

std::vector<RefusedName> megatron_refused() {
  return {
      {"--deterministic-mode", "changes the answer: its slower kernels are not modelled; leave it out"},
      {"--use-torch-fsdp2", "changes the answer and is not modelled with this stack; expected --use-megatron-fsdp"},
      {"--transformer-impl", "changes the answer and has no key; expected transformer_engine", "transformer_engine"},
      {"--main-grads-dtype", "changes the answer; give --set software.main_gradient_precision", "fp32",
       "software.main_gradient_precision"},
      {"--main-params-dtype", "changes the answer and has no key; expected fp32", "fp32"},
      {"--exp-avg-dtype", "changes the answer; give --set software.moment_precision", "fp32",
       "software.moment_precision"},
      {"--exp-avg-sq-dtype", "changes the answer; give --set software.moment_precision", "fp32",
       "software.moment_precision"},
      {"--moe-enable-deepep",
       "changes the answer; where tokens go to few nodes, give --set training.experts.node_limit=N", "",
       "training.experts.node_limit"},
      {"--moe-shared-expert-overlap", "changes the answer and has no key; expected it to be left out"},
      {"--enable-cuda-graph", "changes the answer; give --set software.cuda_graphs=layers", "", "software.cuda_graphs"},
      {"--external-cuda-graph", "changes the answer; give --set software.cuda_graphs=layers", "",
       "software.cuda_graphs"},
      {"--cuda-graph-impl",
       "changes the answer; give --set software.cuda_graph_modules=[...], what --cuda-graph-scope says", "none",
       "software.cuda_graph_modules"},
      {"--cuda-graph-scope", "changes the answer; give --set software.cuda_graph_modules=[...] with its modules", "",
       "software.cuda_graph_modules"},
      {"--quick-geglu", "changes the answer and has no key; expected --swiglu or no such flag"},
      {"--overlap-moe-expert-parallel-comm",
       "changes the answer; give --set pipeline.schedule=combined-1f1b where the pipeline has stages", "",
       "pipeline.schedule"},
      {"--moe-router-group-topk",
       "changes the answer; where a group is a node, give --set training.experts.node_limit=N", "",
       "training.experts.node_limit", "--moe-router-num-groups"},
      {"--deepspeed",
       "is of Megatron-DeepSpeed; give --set data_parallel.zero=N --set software=megatron-deepspeed, and whatever else "
       "its JSON says",
       "", "data_parallel.zero"},
      {"--deepspeed_config",
       "is of Megatron-DeepSpeed, and is not read; give --set data_parallel.zero=N, and whatever else it says", "",
       "data_parallel.zero"},
      {"--deepspeed-config",
       "is of Megatron-DeepSpeed, and is not read; give --set data_parallel.zero=N, and whatever else it says", "",
       "data_parallel.zero"},
      {"--ds-sequence-parallel-size",
       "is of Megatron-DeepSpeed; give --set parallelism.context=N --set "
       "parallelism.context_method=ulysses",
       "1", "parallelism.context"},
      {"--moe-expert-parallel-size",
       "is of Megatron-DeepSpeed; expected --expert-model-parallel-size, and its experts in Megatron-LM's flags", "1"},
      {"--window-size", "changes the answer and has no key: all of a sequence is attended to"},
      {"--yaml-cfg", "is a file of flags; expected the flags"},
      {"--use-legacy-models", "changes the answer; expected Megatron Core's models"},
      {"--optimizer-offload-fraction", "changes the answer and has no key: all of the state is on the host or none"},
      {"model.family", "its pretrain_gpt.py and pretrain_mamba.py start gpt, llama and moe"},
      {"parallelism.order",
       "it has tensor, context, data, pipeline or, with --use-tp-pp-dp-mapping, pipeline before data"},
      {"model.activation", "it has gelu and swiglu, and the square of relu"},
      {"pipeline.schedule", "it has 1f1b and interleaved-1f1b"},
      {"training.precision", "it has --bf16, --fp16, fp8 and mxfp8"},
  };
}

constexpr std::string_view kMegatronIgnored =
    "--master* --node* --rdzv* --max-restarts --tee --log* --lr* --min-lr* --decoupled* --weight-decay* "
    "--adam-* --clip-grad --init-method* --train-* --eval-* --save* --load* --no-load* --no-save* --ckpt-* "
    "--dist-ckpt* --async-save --use-dist-ckpt --auto-detect* --data-path --data-args* --data-cache* "
    "--valid-* --test-* --split --data-impl --mock-data --vocab-file --merge-file --tokenizer-model --tokenizer-hf* "
    "--tiktoken* --num-workers --num-dataset-builder-threads --dataloader* --no-mmap* "
    "--no-create-attention-mask-in-dataloader --reset-* "
    "--eod-mask-loss --tensorboard* --wandb* --timing* --seed --profile* --use-pytorch-profiler "
    "--record-memory* --distributed-* --manual-gc* --exit-* --empty-unused* --rotary-* --use-rope-scaling "
    "--rope-* --no-rope-fusion --apply-* --norm-epsilon --loss-scale* --initial-loss* --min-loss* "
    "--hysteresis --use-mcore-models --rampup-batch-size --no-position-embedding --override-opt* "
    "--use-checkpoint-* --finetune --no-check-for* --check-for* --rerun-* --error-injection* "
    "--enable-one-logger --no-one-logger --one-logger* --app-tag* --tag* --attention-softmax-in-fp32 "
    "--no-query-key-layer-scaling --fp8-amax* --fp8-margin --fp8-interval --moe-router-load* "
    "--moe-router-pre-softmax --moe-router-score* --moe-router-enable* --moe-router-bias* --moe-router-dtype "
    "--moe-router-topk-scaling* --moe-aux* --moe-z-loss* --moe-permute* --moe-per-layer* --mtp-loss* "
    "--calculate-per-token-loss --local-rank --use-persist* --legacy-tokenizer --mscale* --ft-* --enable-ft* "
    "--inprocess* --straggler* --disable-straggler* --run-workload* --results-dir --adlr* --no-ckpt* "
    "--non-persistent* --persistent-save* --no-barrier* --no-log* --no-initialization --te-rng* "
    "--use-mp-args* --no-use-tokenizer* --memory-snapshot* --config-logger* --check-weight* "
    "--full-validation --multiple-validation* --per-split* --start-weight* --end-weight* --embedding-init* "
    "--disable-gloo* --use-cpu-init* --init-model* --lazy-mpu* --pretrained-checkpoint --moe-router-force* "
    "--moe-input-jitter* --nccl-communicator* --moe-router-num-groups "
    // Of Megatron-DeepSpeed (megatron/arguments.py, @207b2d5): which class runs the same layers, and how its buffers
    // lie.
    "--no-pipeline-parallel --deepspeed-activation-checkpointing --disable-mem-efficient-ln --layernorm-epsilon "
    "--zero-contigious-gradients --zero-reduce-scatter --zero-allgather-bucket-size";

std::vector<FixedKey> megatron_elsewhere() { return {{"software.main_gradient_precision", "", ""}}; }

void spell_megatron(Words& words, const Framework& framework) {
  check_kv_heads(words, framework, SharedKvHeads::refused);
  spell_instances(words);
  spell_megatron_core(words, framework);
  say(words, "@vocab", std::to_string(whole_of(words, "model.vocab") - 1));
  take(words, "model.vocab");
  say(words, "@tokenizer", "NullTokenizer");
  if (!words.contains("model.pattern")) return;
  std::string pattern = text_of(words, "model.pattern");
  if (pattern.find('(') != std::string::npos)
    refuse(words, "model.pattern", "letters alone: each of its layers is of one half");
  if (pattern.starts_with('-'))
    refuse(words, "model.pattern", "another first layer: its parser of arguments takes this for a flag");
  const std::string once = pattern;
  while (static_cast<std::int64_t>(pattern.size()) < whole_of(words, "model.layers")) pattern += once;
  say(words, "model.pattern", pattern);
  // MambaMixer has no other.
  for (const auto& [key, only] : {std::pair{"model.mamba.convolution", "4"}, {"model.mamba.chunk", "128"}})
    if (words.contains(key)) {
      if (text_of(words, key) != only) refuse(words, key, only);
      take(words, key);
    }
  say(words, "@hybrid", "true");
  say(words, "@spec", std::string(kHybridLayers));
}

/// Of a model by a pattern, what its flags leave out.
void read_hybrid(Words& words, const Framework& framework) {
  constexpr std::string_view kByTheirLaterName = "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec";
  if (const std::string spec = text_of(words, "@spec");
      words.contains("@spec") && spec != kHybridLayers && spec != kByTheirLaterName)
    refuse(words, "@spec", std::string(kHybridLayers) + ", or none: other layers are not known here");
  if (!words.contains("model.pattern")) {
    for (const char* key : {"@spec", "@hybrid"})
      if (words.contains(key)) refuse(words, key, "it beside " + name_in(framework, "model.pattern"));
    return;
  }
  const std::string pattern = text_of(words, "model.pattern");
  if (pattern.find_first_not_of("M*-E") != std::string::npos)
    refuse(words, "model.pattern", "letters M, *, - and E alone: cuts of stages and other layers are not read");
  if (!words.contains("model.layers")) say(words, "model.layers", std::to_string(pattern.size()), "model.pattern");
  if (whole_of(words, "model.layers") != static_cast<std::int64_t>(pattern.size()))
    refuse(words, "model.pattern", "a letter for each of the " + text_of(words, "model.layers") + " layers");
  if (pattern.find('M') == std::string::npos) return;
  const auto usual = [&](const char* key, const char* value) {
    if (!words.contains(key)) say(words, key, value, "assumed, Megatron-LM's default");
  };
  usual("model.mamba.head", "64");
  usual("model.mamba.state", "128");
  usual("model.mamba.groups", "8");
  usual("model.mamba.chunk", "128");
  if (words.contains("model.mamba.heads")) return;
  const std::int64_t wide = 2 * whole_of(words, "model.hidden"), head = whole_of(words, "model.mamba.head");
  if (wide % head != 0)
    refuse(words, "model.mamba.head", "a divisor of " + std::to_string(wide) + ", or the number of heads with it");
  say(words, "model.mamba.heads", std::to_string(wide / head),
      "assumed, Megatron-LM's default: twice " + name_in(framework, "model.hidden"));
}

void read_megatron(Words& words, const Framework& framework) {
  read_launched_gpus(words);
  if (!words.contains("model.hidden")) refuse(words, "model.hidden", "a whole number");
  if (words.contains("@key_value_heads")) {
    refuse_both(words, "@kv_heads", "@key_value_heads");
    say(words, "@groups", "true", "@key_value_heads");
    say(words, "@kv_heads", text_of(words, "@key_value_heads"), "@key_value_heads");
  }
  read_hybrid(words, framework);
  read_megatron_core(words, framework);
  if (words.contains("@zero_stage")) {
    refuse_both(words, "@shards", "@zero_stage");
    say(words, "data_parallel.zero", text_of(words, "@zero_stage"), "@zero_stage");
  }
  read_instances(words);
  if (words.contains("@vocab"))
    say(words, "model.vocab",
        std::to_string(whole_of(words, "@vocab") + (text_of(words, "@tokenizer") == "NullTokenizer" ? 1 : 0)),
        "@vocab");
}

std::vector<std::string> launch_megatron(const Words& words, const Launch& launch) {
  // One queue, so that kernels that wait for traffic are launched behind it; Megatron FSDP asks for more.
  const bool fsdp = text_of(words, "data_parallel.zero") > "1";
  const bool inside = text_of(words, "parallelism.tensor") != "1" || text_of(words, "parallelism.context") != "1";
  return {(inside && !fsdp ? "CUDA_DEVICE_MAX_CONNECTIONS=1 " : "") +
          torchrun(launch, words.contains("model.pattern") ? "pretrain_mamba.py" : "pretrain_gpt.py")};
}

Statements fill_megatron() {
  return {{.name = "--mock-data", .text = {}, .comment = "to fill in: --data-path, --tokenizer-type and its files"},
          {.name = "--train-iters", .text = "100", .comment = "to fill in"},
          {.name = "--lr", .text = "1e-4", .comment = "to fill in"}};
}

}  // namespace

extern const Framework megatron;
const Framework megatron{.name = "megatron",
                         .title = "Megatron-LM",
                         .version = "github.com/NVIDIA/Megatron-LM core_v0.14.0 @23e00ed",
                         .software = "megatron-core",
                         .syntax = flags_syntax,
                         .rows = megatron_rows,
                         .fixed = megatron_fixed,
                         .refused = megatron_refused,
                         .ignored = kMegatronIgnored,
                         .elsewhere = megatron_elsewhere,
                         .spell = spell_megatron,
                         .read = read_megatron,
                         .launch = launch_megatron,
                         .to_fill = fill_megatron};

}  // namespace stepcast::language
