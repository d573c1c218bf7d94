#include <algorithm>

#include "language/frameworks/framework.h"
#include "language/frameworks/tables/stage_layout.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/NVIDIA/Megatron-LM, release core_v0.14.0 (@23e00ed), megatron/training/arguments.py;
// what a flag implies is its validate_args().
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& megatron_rows() {
  static const std::vector<FlagRow> rows{
      {.name = "--nnodes", .key = "@nodes", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc-per-node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--nproc_per_node", .key = "@gpus_per_node", .only_read = true, .remark = "cluster.gpus"},
      {.name = "--tensor-model-parallel-size", .key = "parallelism.tensor", .usual = "1"},
      {.name = "--pipeline-model-parallel-size", .key = "parallelism.pipeline", .usual = "1"},
      {.name = "--context-parallel-size", .key = "parallelism.context", .usual = "1"},
      {.name = "--cp-comm-type",
       .key = "parallelism.context_method",
       .usual = "ring",
       .spellings = {{"ring", "p2p"}, {"all-gather", "allgather"}, {"all-gather", "all_gather"}, {"ulysses", "a2a"}}},
      {.name = "--expert-model-parallel-size", .key = "parallelism.expert", .usual = "1"},
      {.name = "--expert-tensor-parallel-size", .key = "@expert_tensor", .remark = "experts lie whole on their ranks"},
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
       .usual = "true",
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
      {.name = "--recompute-method",
       .key = "@recompute_method",
       .spellings = {{"uniform", "uniform"}, {"block", "block"}},
       .remark = "recompute"},
      {.name = "--recompute-num-layers", .key = "@recompute_layers", .remark = "recompute.every or full_layers"},
      {.name = "--recompute-modules", .key = "@recompute_modules", .remark = "recompute.modules"},
      {.name = "--use-distributed-optimizer", .key = "@shards", .present = "optimizer", .remark = "data_parallel.zero"},
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
       .key = "software.fused_cross_entropy",
       .usual = "false",
       .present = "true"},
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
      {.name = "--kv-channels", .key = "model.head_width"},
      {.name = "--max-position-embeddings", .key = "@positions", .remark = "at least training.sequence"},
      {.name = "--position-embedding-type",
       .key = "model.position_encoding",
       .usual = "learned",
       .spellings = {{"learned", "learned_absolute"}, {"rotary", "rope"}}},
      {.name = "--use-rotary-position-embeddings",
       .key = "model.position_encoding",
       .present = "rotary",
       .only_read = true},
      {.name = "--normalization",
       .key = "@norm",
       .usual = "layer",
       .spellings = {{"layer", "LayerNorm"}, {"rms", "RMSNorm"}},
       .remark = "model.family"},
      {.name = "--swiglu", .key = "model.activation", .usual = "gelu", .present = "swiglu"},
      {.name = "--squared-relu", .key = "model.activation", .present = "relu", .only_read = true},
      {.name = "--untie-embeddings-and-output-weights", .key = "model.tied_head", .usual = "true", .present = "false"},
      {.name = "--disable-bias-linear", .key = "model.biases", .usual = "true", .present = "false"},
      {.name = "--add-qkv-bias", .key = "model.qkv_bias", .usual = "false", .present = "true"},
      {.name = "--qk-layernorm", .key = "model.qk_norm", .usual = "false", .present = "true"},
      {.name = "--attention-dropout", .key = "@attention_dropout", .usual = "0.1", .remark = "model.dropout"},
      {.name = "--hidden-dropout", .key = "@hidden_dropout", .usual = "0.1", .remark = "model.dropout"},
      {.name = "--mtp-num-layers", .key = "model.mtp_layers"},
      {.name = "--num-experts", .key = "model.experts.count"},
      {.name = "--moe-router-topk", .key = "model.experts.active"},
      {.name = "--moe-ffn-hidden-size", .key = "model.experts.ffn"},
      {.name = "--moe-shared-expert-intermediate-size", .key = "@shared_ffn", .remark = "model.experts.shared_ffn"},
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

std::vector<FixedKey> megatron_fixed() { return {}; }

std::vector<RefusedName> megatron_refused() {
  return {
      {"--use-torch-fsdp2", "changes the answer and is not modelled with this stack; expected --use-megatron-fsdp"},
      {"--num-distributed-optimizer-instances", "changes the answer and has no key yet; expected 1", "1"},
      {"--transformer-impl", "changes the answer and has no key; expected transformer_engine", "transformer_engine"},
      {"--main-grads-dtype", "changes the answer; leave it out and give --set software.main_gradient_precision",
       "fp32"},
      {"--main-params-dtype", "changes the answer and has no key; expected fp32", "fp32"},
      {"--exp-avg-dtype", "changes the answer; leave it out and give --set software.moment_precision", "fp32"},
      {"--exp-avg-sq-dtype", "changes the answer; leave it out and give --set software.moment_precision", "fp32"},
      {"--moe-enable-deepep",
       "changes the answer; leave it out and, where tokens go to few nodes, give --set training.experts.node_limit=N"},
      {"--moe-shared-expert-overlap", "changes the answer and has no key; expected it to be left out"},
      {"--enable-cuda-graph", "changes the answer; leave it out and give --set software.cuda_graphs=layers"},
      {"--external-cuda-graph", "changes the answer; leave it out and give --set software.cuda_graphs=layers"},
      {"--quick-geglu", "changes the answer and has no key; expected --swiglu or no such flag"},
      {"--overlap-moe-expert-parallel-comm",
       "changes the answer; leave it out and give --set pipeline.schedule=combined-1f1b where the pipeline has stages"},
      {"--moe-router-group-topk",
       "changes the answer; leave it out and, where a group is a node, give --set training.experts.node_limit=N"},
      {"--moe-router-num-groups", "changes the answer; leave it out beside --moe-router-group-topk"},
      {"--window-size", "changes the answer and has no key: all of a sequence is attended to"},
      {"--spec", "names other layers than Megatron's own, which are not known here"},
      {"--yaml-cfg", "is a file of flags; expected the flags"},
      {"--use-legacy-models", "changes the answer; expected Megatron Core's models"},
      {"--optimizer-offload-fraction", "changes the answer and has no key: all of the state is on the host or none"},
      {"model.family", "its pretrain_gpt.py starts gpt, llama and moe"},
      {"parallelism.order",
       "it has tensor, context, data, pipeline or, with --use-tp-pp-dp-mapping, pipeline before data"},
      {"model.activation", "it has gelu and swiglu, and the square of relu"},
      {"pipeline.schedule", "it has 1f1b and interleaved-1f1b"},
      {"data_parallel.shard_group", "it shards over all data ranks"},
      {"training.precision", "it has --bf16, --fp16, fp8 and mxfp8"},
  };
}

constexpr std::string_view kMegatronIgnored =
    "--master* --node* --rdzv* --max-restarts --tee --log* --lr* --min-lr* --decoupled* --weight-decay* "
    "--adam-* --clip-grad --init-method* --train-* --eval-* --save* --load* --no-load* --no-save* --ckpt-* "
    "--dist-ckpt* --async-save --use-dist-ckpt --auto-detect* --data-path --data-args* --data-cache* "
    "--valid-* --test-* --split --data-impl --mock-data --vocab-file --merge-file --tokenizer-model --tokenizer-hf* "
    "--tiktoken* --num-workers --dataloader* --no-mmap* --no-create-attention-mask-in-dataloader --reset-* "
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
    "--moe-input-jitter* --nccl-communicator*";

std::vector<FixedKey> megatron_elsewhere() { return {}; }

void spell_precision(Words& words) {
  const std::string precision = take(words, "training.precision");
  if (precision == "fp16") say(words, "@fp16", "true");
  if (precision == "bf16" || precision == "fp8" || precision == "mxfp8") say(words, "@bf16", "true");
  if (precision == "fp8" || precision == "mxfp8") {
    say(words, "@fp8", "true");
    const std::string scaling = take(words, "training.scaling");
    say(words, "@fp8_recipe", precision == "mxfp8" ? "mxfp8" : scaling);
  }
  if (precision == "tf32" || precision == "nvfp4") say(words, "training.precision", precision);
  const std::string start = take(words, "training.bf16_layers_at_start"),
                    end = take(words, "training.bf16_layers_at_end");
  if (!start.empty() || !end.empty()) {
    say(words, "@bf16_ends", "true");
    say(words, "@bf16_start", start.empty() ? "0" : start);
    say(words, "@bf16_end", end.empty() ? "0" : end);
  }
  const std::string gradients = text_of(words, "data_parallel.gradient_precision");
  const std::string usual = precision == "fp16" ? "fp16" : "fp32";
  if (gradients != usual) {
    if (gradients == "bf16" && !text_of(words, "@bf16").empty())
      say(words, "@gradients_bf16", "true");
    else if (gradients == "fp32")
      say(words, "@gradients_fp32", "true");
    else
      throw InputError("data_parallel.gradient_precision",
                       "found " + in_quotes(gradients) + ", which Megatron-LM has not with training.precision " +
                           precision + "; expected " + usual + (precision == "fp16" ? " or fp32" : " or bf16"));
  }
  take(words, "data_parallel.gradient_precision");
  // Gradients are kept in the type that they are summed in.
  if (const auto kept = words.find("software.main_gradient_precision");
      kept != words.end() && kept->second.text == gradients)
    words.erase(kept);
}

void read_precision(Words& words) {
  refuse_both(words, "@bf16", "@fp16");
  const bool bf16 = take(words, "@bf16") == "true", fp16 = take(words, "@fp16") == "true";
  const std::string fp8 = take(words, "@fp8"), recipe = take(words, "@fp8_recipe");
  if (!fp8.empty()) {
    say(words, "training.precision", recipe == "mxfp8" ? "mxfp8" : "fp8", "--fp8-format");
    if (recipe != "mxfp8") say(words, "training.scaling", recipe.empty() ? "delayed" : recipe, "--fp8-recipe");
  } else {
    say(words, "training.precision",
        bf16   ? "bf16"
        : fp16 ? "fp16"
               : "fp32",
        bf16   ? "--bf16"
        : fp16 ? "--fp16"
               : "assumed, Megatron-LM's default: neither --bf16 nor --fp16");
  }
  const bool ends = take(words, "@bf16_ends") == "true";
  const std::string start = take(words, "@bf16_start"), end = take(words, "@bf16_end");
  if (ends) {
    say(words, "training.bf16_layers_at_start", start.empty() ? "1" : start, "--first-last-layers-bf16");
    say(words, "training.bf16_layers_at_end", end.empty() ? "1" : end, "--first-last-layers-bf16");
  }
  const bool in_bf16 = take(words, "@gradients_bf16") == "true", in_fp32 = take(words, "@gradients_fp32") == "true";
  const std::string gradients = in_bf16 ? "bf16" : fp16 && !in_fp32 ? "fp16" : "fp32";
  const char* why = in_bf16 ? "--grad-reduce-in-bf16" : "assumed: no --grad-reduce-in-bf16";
  say(words, "data_parallel.gradient_precision", gradients, why);
  say(words, "software.main_gradient_precision", gradients, why);
}

void spell_pipeline(Words& words) {
  const std::string schedule = text_of(words, "pipeline.schedule");
  if (schedule == "1f1b" || schedule == "interleaved-1f1b") {
    take(words, "pipeline.schedule");
    const std::string stages = take(words, "pipeline.virtual_stages");
    if (schedule != "1f1b") say(words, "@virtual_stages", stages);
  }
  if (const std::string layers = take(words, "parallelism.layers_per_stage"); !layers.empty()) {
    take(words, "@virtual_stages");  // Megatron-LM counts them in the layout
    say(words, "@layout", stage_layout(layers));
  }
  const std::string order = text_of(words, "parallelism.order");
  if (order == "[tensor, context, pipeline, data]") {
    take(words, "parallelism.order");
    say(words, "@pipeline_inside_data", "true");
  }
}

void read_pipeline(Words& words) {
  refuse_both(words, "@virtual_stages", "@layers_per_chunk");
  for (const char* other : {"@first_layers", "@last_layers", "pipeline.embedding_as_layer", "pipeline.head_as_layer"})
    refuse_both(words, "@layout", other);
  if (take(words, "@pipeline_inside_data") == "true")
    say(words, "parallelism.order", "[tensor, context, pipeline, data]", "--use-tp-pp-dp-mapping");
  const std::int64_t pipeline = whole_of(words, "parallelism.pipeline");
  std::int64_t chunks = words.contains("@virtual_stages") ? whole_of(words, "@virtual_stages") : 1;
  if (words.contains("@layers_per_chunk")) {
    const std::int64_t layers = whole_of(words, "model.layers"), each = whole_of(words, "@layers_per_chunk");
    if (layers % (pipeline * each) != 0) refuse(words, "@layers_per_chunk", "a divisor of the layers of a stage");
    chunks = layers / pipeline / each;
  }
  if (words.contains("@layout")) {
    const std::string layers = layers_of_layout(words, "@layout");
    say(words, "parallelism.layers_per_stage", layers, "@layout");
    const std::int64_t parts = std::ranges::count(layers, ',') + 1;
    if (parts % pipeline != 0)
      refuse(words, "@layout", "as many parts on each of " + std::to_string(pipeline) + " stages");
    chunks = parts / pipeline;
  }
  const char* from = words.contains("@layers_per_chunk") ? "@layers_per_chunk"
                     : words.contains("@layout")         ? "@layout"
                                                         : "@virtual_stages";
  if (words.contains("@virtual_stages") || chunks > 1) {
    say(words, "pipeline.schedule", "interleaved-1f1b", from);
    say(words, "pipeline.virtual_stages", std::to_string(chunks), from);
  }
  if (words.contains("@first_layers") || words.contains("@last_layers"))
    say(words, "parallelism.layers_per_stage", layers_beside(words, "@first_layers", "@last_layers", pipeline, chunks),
        words.contains("@first_layers") ? "@first_layers" : "@last_layers");
}

void spell_data_parallel(Words& words) {
  const std::string zero = take(words, "data_parallel.zero");
  take(words, "parallelism.data");
  const bool overlaps = text_of(words, "data_parallel.overlap") == "true";
  if (zero == "1") say(words, "@shards", "optimizer");
  if (zero == "2" || zero == "3") {
    say(words, "@fsdp", "true");
    say(words, "@strategy", zero);
    say(words, "@checkpoints", "fsdp_dtensor");
  }
  if (zero != "0" && overlaps) say(words, "@overlap_gather", "true");
  const auto bucket = words.find("data_parallel.bucket");
  if (bucket == words.end() || bucket->second.usual) return;
  const std::int64_t element = text_of(words, "@gradients_bf16") == "true"                                      ? 2
                               : text_of(words, "@fp16").empty() || text_of(words, "@gradients_fp32") == "true" ? 4
                                                                                                                : 2;
  const std::int64_t bytes = std::stoll(bucket->second.text);
  words.erase(bucket);
  if (bytes % element != 0)
    throw InputError("data_parallel.bucket", "found " + std::to_string(bytes) + " bytes, expected whole gradients of " +
                                                 std::to_string(element) + " bytes each");
  say(words, "@bucket", std::to_string(bytes / element));
}

void read_data_parallel(Words& words) {
  const bool shards = !take(words, "@shards").empty(), fsdp = !take(words, "@fsdp").empty();
  const std::string strategy = take(words, "@strategy");
  take(words, "@checkpoints");
  take(words, "@overlap_gather");
  if (fsdp)
    say(words, "data_parallel.zero", strategy.empty() ? "0" : strategy,
        strategy.empty() ? "assumed: --use-megatron-fsdp shards nothing unless told"
                         : "--data-parallel-sharding-strategy");
  else
    say(words, "data_parallel.zero", shards ? "1" : "0",
        shards ? "--use-distributed-optimizer" : "assumed: no --use-distributed-optimizer");
  if (words.contains("@bucket")) {
    const std::int64_t element = text_of(words, "data_parallel.gradient_precision") == "fp32" ? 4 : 2;
    say(words, "data_parallel.bucket", std::to_string(whole_of(words, "@bucket") * element) + " B", "@bucket");
  }
}

void spell_memory(Words& words) {
  const std::string recompute = take(words, "recompute"), every = take(words, "recompute.every"),
                    layers = take(words, "recompute.full_layers"), modules = take(words, "recompute.modules");
  if (!every.empty() && !layers.empty())
    throw InputError("recompute.every",
                     "found beside recompute.full_layers, expected one of them: Megatron-LM "
                     "recomputes uniformly or a block of layers");
  if (recompute == "full" || !every.empty() || !layers.empty()) {
    say(words, "@recompute", "full");
    say(words, "@recompute_method", layers.empty() ? "uniform" : "block");
    say(words, "@recompute_layers", !layers.empty() ? layers : every.empty() ? "1" : every);
  } else if (recompute == "selective" || !modules.empty()) {
    say(words, "@recompute", "selective");
    std::string names = modules;
    std::erase_if(names, [](char c) { return c == '[' || c == ']' || c == ','; });
    if (!names.empty()) say(words, "@recompute_modules", names);
  }
  if (text_of(words, "offload.optimizer") == "host") {
    take(words, "offload.optimizer");
    say(words, "@offload", "true");
    say(words, "@aware", "true");
  }
}

void read_memory(Words& words) {
  if (words.contains("@checkpoint_method")) {
    refuse_both(words, "@recompute", "@checkpoint_method");
    say(words, "@recompute", "full", "@checkpoint_method");
    say(words, "@recompute_method", text_of(words, "@checkpoint_method"), "@checkpoint_method");
  }
  const std::string recompute = take(words, "@recompute"), method = take(words, "@recompute_method");
  const std::string modules = take(words, "@recompute_modules");
  const std::string layers =
      words.contains("@recompute_layers") ? std::to_string(whole_of(words, "@recompute_layers")) : "1";
  if (recompute == "full" && method.empty())
    throw InputError("--recompute-method", "missing beside --recompute-granularity full, expected uniform or block");
  if (recompute == "full" && method == "block")
    say(words, "recompute.full_layers", layers, "--recompute-method block --recompute-num-layers");
  else if (recompute == "full" && layers != "1")
    say(words, "recompute.every", layers, "--recompute-method uniform --recompute-num-layers");
  else if (recompute == "selective" && !modules.empty()) {
    std::string list = modules;
    for (std::size_t at = list.find(' '); at != list.npos; at = list.find(' ', at + 2)) list.insert(at, ",");
    say(words, "recompute.modules", "[" + list + "]", "--recompute-modules");
  } else {
    say(words, "recompute", recompute.empty() ? "none" : recompute,
        recompute.empty() ? "assumed: no --recompute-granularity" : "--recompute-granularity");
  }
  if (!take(words, "@offload").empty()) say(words, "offload.optimizer", "host", "--optimizer-cpu-offload");
}

/// Megatron-LM's --moe-layer-freq of some layers without experts in front of the others.
std::string expert_pattern(std::int64_t dense, std::int64_t layers) {
  return "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(layers - dense) + ")";
}

void spell_model(Words& words) {
  const std::string family = take(words, "model.family");
  if (family.empty())
    throw InputError("model.family",
                     "found no decoder, expected gpt, llama or moe, which Megatron-LM's pretrain_gpt.py starts");
  say(words, "@norm", family == "gpt" ? "layer" : "rms");
  const std::string positions = take(words, "model.positions");
  say(words, "@positions", positions.empty() ? text_of(words, "training.sequence") : positions);
  const bool dropout = take(words, "model.dropout") == "true";
  say(words, "@attention_dropout", dropout ? "0.1" : "0.0");
  say(words, "@hidden_dropout", dropout ? "0.1" : "0.0");
  const std::string kv_heads = take(words, "model.kv_heads");
  if (!kv_heads.empty() && kv_heads != text_of(words, "model.heads")) {
    say(words, "@groups", "true");
    say(words, "@kv_heads", kv_heads);
  }
  say(words, "@vocab", std::to_string(whole_of(words, "model.vocab") - 1));
  take(words, "model.vocab");
  say(words, "@tokenizer", "NullTokenizer");
  if (words.contains("model.latent.kv_rank")) {
    say(words, "@latent", "true");
    if (const std::string rank = take(words, "model.latent.query_rank"); rank != "0") say(words, "@query_rank", rank);
  }
  if (!words.contains("model.experts.count")) return;
  if (const std::string shared = take(words, "model.experts.shared_ffn"); shared != "0")
    say(words, "@shared_ffn", shared);
  const std::int64_t dense = whole_of(words, "model.experts.dense_layers", 0), layers = whole_of(words, "model.layers");
  take(words, "model.experts.dense_layers");
  if (dense > 0) say(words, "@expert_layers", expert_pattern(dense, layers));
  say(words, "@dispatcher", "alltoall");
  if (text_of(words, "parallelism.tensor") != "1") say(words, "@expert_tensor", "1");
  if (words.contains("training.experts.capacity")) say(words, "@padded", "true");
}

/// Layers without experts in front, of "([0]*3+[1]*58)" or of 1, which gives experts to all.
void read_expert_layers(Words& words) {
  const std::string pattern = text_of(words, "@expert_layers");
  if (pattern.empty() || pattern == "1") return say(words, "model.experts.dense_layers", "0", "--moe-layer-freq 1");
  std::string compact;
  std::ranges::copy_if(pattern, std::back_inserter(compact), [](char c) { return c != ' '; });
  constexpr std::int64_t kMostDense = 1000;
  const std::int64_t all = whole_of(words, "model.layers"), end = std::min(all, kMostDense);
  std::int64_t dense = 0;
  const auto is_pattern = [&] { return compact == expert_pattern(dense, all); };
  while (dense < end && !is_pattern()) ++dense;
  if (dense == end) refuse(words, "@expert_layers", "1, or dense layers first: ([0]*3+[1]*58) of 61");
  say(words, "model.experts.dense_layers", std::to_string(dense), "@expert_layers");
}

void read_experts(Words& words) {
  say(words, "model.family", "moe", "model.experts.count");
  if (text_of(words, "@norm") != "rms")
    throw InputError("--normalization",
                     "found LayerNorm beside --num-experts, expected RMSNorm: no family has experts "
                     "and LayerNorm");
  if (!words.contains("model.experts.active"))
    say(words, "model.experts.active", "2", "assumed, Megatron-LM's default: no --moe-router-topk");
  if (!words.contains("model.experts.ffn")) say(words, "model.experts.ffn", text_of(words, "model.ffn"), "model.ffn");
  if (words.contains("@shared_ffn"))
    say(words, "model.experts.shared_ffn", text_of(words, "@shared_ffn"), "@shared_ffn");
  if (!words.contains("software.grouped_multiply"))
    say(words, "software.grouped_multiply", "false", "assumed, Megatron-LM's default: no --moe-grouped-gemm");
  read_expert_layers(words);
  const bool spread = text_of(words, "parallelism.expert") != "1";
  if (const std::string way = take(words, "@dispatcher"); spread && way != "alltoall")
    throw InputError("--moe-token-dispatcher-type",
                     "found " + in_quotes(way.empty() ? "allgather" : way) +
                         ", Megatron-LM's default, which is not modelled; expected alltoall or flex");
  const std::string split = take(words, "@expert_tensor"), tensor = text_of(words, "parallelism.tensor");
  if ((split.empty() ? tensor : split) != "1")
    throw InputError("--expert-tensor-parallel-size",
                     "found " + (split.empty() ? tensor + ", which it is where it is not said" : in_quotes(split)) +
                         "; expected 1: experts that tensor ranks share are not modelled");
}

void read_attention(Words& words) {
  if (take(words, "@latent").empty()) {
    for (const char* key :
         {"model.latent.kv_rank", "model.latent.head", "model.latent.rotary", "model.latent.value", "@query_rank"})
      take(words, key);
    say(words, "model.kv_heads",
        words.contains("@groups") ? words.contains("@kv_heads") ? text_of(words, "@kv_heads") : "1"
                                  : text_of(words, "model.heads"),
        words.contains("@kv_heads") ? "@kv_heads"
        : words.contains("@groups") ? "assumed, Megatron-LM's default of --num-query-groups"
                                    : "assumed: no --group-query-attention");
    return;
  }
  take(words, "model.head_width");
  const auto usual = [&](const char* key, const char* value) {
    if (!words.contains(key)) say(words, key, value, "assumed, Megatron-LM's default");
  };
  usual("model.latent.kv_rank", "32");
  usual("model.latent.head", "128");
  usual("model.latent.rotary", "64");
  usual("model.latent.value", "128");
  say(words, "model.latent.query_rank", words.contains("@query_rank") ? text_of(words, "@query_rank") : "0",
      "--q-lora-rank");
}

void read_model(Words& words) {
  const std::int64_t hidden = whole_of(words, "model.hidden");
  if (!words.contains("model.ffn"))
    say(words, "model.ffn",
        std::to_string(text_of(words, "model.activation") == "swiglu" ? 8 * hidden / 3 / 64 * 64 : 4 * hidden),
        "assumed, Megatron-LM's default of --hidden-size");
  read_attention(words);
  const auto dropped = [&](const char* key) { return std::strtod(take(words, key).c_str(), nullptr) > 0; };
  const bool attention = dropped("@attention_dropout"), rest = dropped("@hidden_dropout");
  say(words, "model.dropout", attention || rest ? "true" : "false", "--attention-dropout, --hidden-dropout");
  if (text_of(words, "model.position_encoding") == "learned" && words.contains("@positions"))
    say(words, "model.positions", text_of(words, "@positions"), "@positions");
  if (words.contains("@vocab"))
    say(words, "model.vocab",
        std::to_string(whole_of(words, "@vocab") + (text_of(words, "@tokenizer") == "NullTokenizer" ? 1 : 0)),
        "@vocab");
  if (words.contains("model.experts.count")) return read_experts(words);
  for (const char* key :
       {"model.experts.active", "model.experts.ffn", "software.grouped_multiply", "training.experts.capacity"})
    take(words, key);
  say(words, "model.family", text_of(words, "@norm") == "rms" ? "llama" : "gpt", "@norm");
}

void spell_megatron(Words& words) {
  spell_precision(words);
  spell_pipeline(words);
  spell_data_parallel(words);
  spell_memory(words);
  spell_model(words);
  const std::string optimizer = take(words, "training.optimizer");
  if (optimizer == "none") say(words, "training.optimizer", optimizer);
  say(words, "@optimizer", optimizer == "adam" ? "adam" : "sgd");
  if (optimizer == "sgd") say(words, "@momentum", "0.0");
  if (optimizer == "momentum") say(words, "@momentum", "0.9");
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  if (text_of(words, "software.tensor_overlap") == "all" && text_of(words, "parallelism.sequence") != "true")
    throw InputError("software.tensor_overlap",
                     "found 'all', but Megatron-LM's --tp-comm-overlap asks for --sequence-parallel; expected "
                     "parallelism.sequence true, or none");
}

void read_megatron(Words& words) {
  if (words.contains("@nodes") && words.contains("@gpus_per_node") &&
      text_of(words, "@nodes").find('$') == std::string::npos &&
      text_of(words, "@gpus_per_node").find('$') == std::string::npos)
    say(words, "cluster.gpus", std::to_string(product({whole_of(words, "@nodes"), whole_of(words, "@gpus_per_node")})),
        "@nodes");
  read_precision(words);
  read_pipeline(words);
  read_data_parallel(words);
  read_memory(words);
  read_model(words);
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  if (text_of(words, "parallelism.tensor") == "1" && text_of(words, "parallelism.sequence") == "true")
    say(words, "parallelism.sequence", "false", "assumed: Megatron-LM ignores --sequence-parallel on one tensor rank");
  const bool sgd = text_of(words, "@optimizer") == "sgd";
  const bool momentum = !words.contains("@momentum") || std::strtod(text_of(words, "@momentum").c_str(), nullptr) > 0;
  say(words, "training.optimizer", !sgd ? "adam" : momentum ? "momentum" : "sgd", "@optimizer");
}

std::vector<std::string> launch_megatron(const Words& words, const Launch& launch) {
  // One queue, so that kernels that wait for traffic are launched behind it; Megatron FSDP asks for more.
  const bool fsdp = text_of(words, "data_parallel.zero") > "1";
  const bool inside = text_of(words, "parallelism.tensor") != "1" || text_of(words, "parallelism.context") != "1";
  return {std::string(inside && !fsdp ? "CUDA_DEVICE_MAX_CONNECTIONS=1 " : "") + "torchrun --nnodes " +
          std::to_string(launch.nodes) + " --nproc-per-node " + std::to_string(launch.gpus_per_node) +
          (launch.nodes > 1 ? " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port 29500" : "") +
          " pretrain_gpt.py"};
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
