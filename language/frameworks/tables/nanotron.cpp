#include "language/frameworks/framework.h"
#include "language/frameworks/launch.h"
#include "language/frameworks/tables/kv_heads.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/huggingface/nanotron @2411b02, src/nanotron/config/config.py, parallelism_config.py
// and models_config.py; models: src/nanotron/models/llama.py and qwen.py.
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& nanotron_rows() {
  static const std::vector<FlagRow> rows{
      {.name = "parallelism.dp", .key = "parallelism.data"},
      {.name = "parallelism.pp", .key = "parallelism.pipeline"},
      {.name = "parallelism.tp", .key = "parallelism.tensor"},
      {.name = "parallelism.context_parallel_size", .key = "parallelism.context", .usual = "1"},
      {.name = "parallelism.pp_engine",
       .key = "pipeline.schedule",
       .usual = "gpipe",
       .spellings = {{"1f1b", "1f1b"}, {"gpipe", "afab"}}},
      {.name = "parallelism.tp_mode",
       .key = "parallelism.sequence",
       .usual = "false",
       .spellings =
           {{"true", "REDUCE_SCATTER"}, {"false", "ALL_REDUCE"}, {"true", "reduce_scatter"}, {"false", "all_reduce"}}},
      {.name = "parallelism.tp_linear_async_communication",
       .key = "software.tensor_overlap",
       .usual = "none",
       .spellings = {{"backward", "true"}, {"none", "false"}}},
      {.name = "parallelism.tp_recompute_allgather", .key = "software.gather_inputs_again", .usual = "true"},
      {.name = "parallelism.recompute_layer",
       .key = "recompute",
       .usual = "none",
       .spellings = {{"full", "true"}, {"none", "false"}}},
      {.name = "tokens.micro_batch_size", .key = "training.micro_batch"},
      {.name = "tokens.batch_accumulation_per_replica", .key = "@accumulation", .remark = "training.global_batch"},
      {.name = "tokens.sequence_length", .key = "training.sequence"},
      {.name = "tokens.train_steps", .key = "@steps", .remark = "to fill in"},
      {.name = "optimizer.zero_stage", .key = "data_parallel.zero", .spellings = {{"0", "0"}, {"1", "1"}}},
      {.name = "optimizer.accumulate_grad_in_fp32",
       .key = "data_parallel.gradient_precision",
       .spellings = {{"fp32", "true"}, {"own", "false"}}},
      {.name = "optimizer.optimizer_factory.name",
       .key = "training.optimizer",
       .spellings = {{"adam", "adamW"}, {"sgd", "sgd"}}},
      {.name = "model.dtype",
       .key = "training.precision",
       .usual = "bf16",
       .spellings = {{"bf16", "bfloat16"}, {"fp16", "float16"}, {"fp32", "float32"}}},
      {.name = "model.ddp_bucket_cap_mb", .key = "@bucket", .remark = "data_parallel.bucket"},
      {.name = "model.make_vocab_size_divisible_by", .key = "software.vocabulary_multiple", .usual = "1"},
      {.name = "model.model_config.is_llama_config",
       .key = "@llama",
       .spellings = {{"true", "true"}},
       .remark = "model.family"},
      {.name = "model.model_config.is_qwen2_config",
       .key = "@qwen",
       .spellings = {{"true", "true"}},
       .remark = "model.qkv_bias, or context ranks"},
      {.name = "model.model_config.num_hidden_layers", .key = "model.layers"},
      {.name = "model.model_config.hidden_size", .key = "model.hidden"},
      {.name = "model.model_config.intermediate_size", .key = "model.ffn"},
      {.name = "model.model_config.num_attention_heads", .key = "model.heads"},
      {.name = "model.model_config.num_key_value_heads", .key = "model.kv_heads"},
      {.name = "model.model_config.vocab_size", .key = "model.vocab"},
      {.name = "model.model_config.tie_word_embeddings", .key = "model.tied_head", .usual = "false"},
      {.name = "model.model_config.attention_bias", .key = "@qkv_bias", .remark = "model.qkv_bias"},
      {.name = "model.model_config.max_position_embeddings",
       .key = "@positions",
       .remark = "at least training.sequence"},
      {.name = "model.model_config.hidden_act",
       .key = "model.activation",
       .usual = "swiglu",
       .spellings = {{"swiglu", "silu"}}},
      {.name = "model.model_config._attn_implementation",
       .key = "@attention",
       .spellings = {{"flash", "flash_attention_2"},
                     {"ring", "ring"},
                     {"all-gather", "llama3_ring_attention"},
                     {"flash", "sdpa"},
                     {"ring", "ring_flash_triton"}},
       .remark = "parallelism.context_method"},
      {.name = "model.model_config.ring_attn_heads_k_stride",
       .key = "@stride",
       .remark = "llama3_ring_attention asks for it"},
  };
  return rows;
}

std::vector<FixedKey> nanotron_fixed() {
  return {{"model.family", "llama", "nanotron's Llama and Qwen 2 are of this family"},
          {"model.biases", "false", "nanotron's linear layers have none"},
          {"model.dropout", "false", "nanotron's layers have none"},
          {"model.position_encoding", "rotary", "nanotron's layers turn queries and keys"},
          {"model.qk_norm", "false", "nanotron's layers have none"},
          {"training.attention", "flash", "nanotron's attention is fused"},
          {"pipeline.virtual_stages", "1", "nanotron's pipelines have one chunk on a GPU"}};
}

std::vector<RefusedName> nanotron_refused() {
  return {
      {"parallelism.expert_parallel_size",
       "is a further dimension of ranks beside dp, which is not modelled; expected 1", "1"},
      {"parallelism.expert", "its expert_parallel_size is a dimension of its own, which is not modelled"},
      {"pipeline.schedule", "it has 1f1b and afab, which is gpipe"},
      {"data_parallel.shard_group", "it shards over all data ranks"},
      {"parallelism.layers_per_stage", "it shares layers out by their cost; expected none"},
      {"pipeline.embedding_as_layer", "it shares layers out by their cost; expected pipeline.partition cost"},
      {"pipeline.head_as_layer", "it shares layers out by their cost; expected pipeline.partition cost"},
      {"model.head_width", "it is hidden over heads"},
      {"model.experts.*", "its mixture of experts (Qwen2Config.moe_config) is not modelled"},
      {"model.model_config.sliding_window_size", "changes the answer and has no key: all of a sequence is attended to"},
      {"model.model_config._use_doc_masking",
       "changes the answer, since each document of a sample attends to itself alone; give --set "
       "training.document_length=N",
       "false", "training.document_length", "model.model_config.is_llama_config"},
      // Its Llama does not read _use_doc_masking. The row says so as "may be what is_llama_config is", which lets
      // "true" pass beside "true" because the two texts are alike: another spelling of either would be refused.
      {"model.model_config.z_loss_enabled", "changes the answer and has no key; expected false", "false"}};
}

constexpr std::string_view kNanotronIgnored =
    "checkpoints.* data_stages data_stages.* general.* lighteval lighteval.* logging.* metrics_logging.* "
    "profiler profiler.* s3_upload s3_upload.* tokenizer tokenizer.* optimizer.learning_rate_scheduler.* "
    "optimizer.clip_grad optimizer.weight_decay* optimizer.optimizer_factory.adam_* "
    "optimizer.optimizer_factory.torch_adam_is_fused optimizer.adam_* optimizer.torch_adam_is_fused "
    "model.init_method.* model.model_config.bos_token_id "
    "model.model_config.eos_token_id model.model_config.pad_token_id model.model_config.initializer_range "
    "model.model_config.pretraining_tp model.model_config.rms_norm_eps model.model_config.rope_* "
    "model.model_config.use_cache model.model_config.z_loss_coefficient model.model_config._fused_* "
    "model.model_config._use_* model.model_config.log_attn_probs tokens.val_check_interval tokens.limit_*";

std::vector<FixedKey> nanotron_elsewhere() { return {}; }

void spell_nanotron(Words& words, const Framework& framework) {
  const std::int64_t data = whole_of(words, "parallelism.data"), batch = whole_of(words, "training.global_batch"),
                     micro = whole_of(words, "training.micro_batch");
  say(words, "@accumulation", std::to_string(batch / (data * micro)));
  take(words, "training.global_batch");
  if (!words.contains("model.layers"))
    throw InputError("model.family", "found no decoder, expected llama, which nanotron trains");
  check_kv_heads(words, framework, SharedKvHeads::refused);
  // Data parallelism without a sum in fp32 sums gradients in the training precision.
  const std::string precision = text_of(words, "training.precision");
  const auto gradients = words.find("data_parallel.gradient_precision");
  if (gradients->second.text == precision && precision != "fp32") {
    if (text_of(words, "software.main_gradient_precision") != precision)
      throw InputError("data_parallel.gradient_precision", "found " + in_quotes(precision) +
                                                               " beside main gradients that are not, expected "
                                                               "--set software.main_gradient_precision=" +
                                                               precision +
                                                               " too, since nanotron sums and keeps them in one type");
    gradients->second.text = "own";
    take(words, "software.main_gradient_precision");
  }
  const auto bucket = words.find("data_parallel.bucket");
  if (!bucket->second.usual) {
    const std::int64_t unit = std::int64_t{1} << (gradients->second.text == "fp32" && precision != "fp32" ? 21 : 20);
    const std::int64_t bytes = std::stoll(bucket->second.text);
    if (bytes % unit != 0)
      throw InputError("data_parallel.bucket", "found " + in_quotes(bucket->second.text) + ", expected a multiple of " +
                                                   std::to_string(unit) + " B: ddp_bucket_cap_mb is a whole number");
    say(words, "@bucket", std::to_string(bytes / unit));
    words.erase("data_parallel.bucket");
  }
  const bool context = text_of(words, "parallelism.context") != "1", bias = take(words, "model.qkv_bias") == "true";
  const std::string method = take(words, "parallelism.context_method");
  if (context && method == "ulysses")
    throw InputError("parallelism.context_method",
                     "found ulysses, which nanotron has not; expected ring or all-gather");
  say(words, "@attention", context ? method : "flash");
  if (method == "all-gather") say(words, "@stride", "1");
  say(words, context || bias ? "@qwen" : "@llama", "true");
  if (bias) say(words, "@qkv_bias", "true");
  say(words, "@positions", text_of(words, "training.sequence"));
  say(words, "@steps", "100");
  if (text_of(words, "model.head_width") ==
      std::to_string(whole_of(words, "model.hidden") / whole_of(words, "model.heads")))
    take(words, "model.head_width");
  if (text_of(words, "pipeline.partition") == "cost") take(words, "pipeline.partition");
}

void read_nanotron(Words& words, const Framework&) {
  for (const char* key :
       {"parallelism.tensor", "parallelism.pipeline", "parallelism.data", "training.micro_batch", "@accumulation"})
    whole_of(words, key);  // each must be there
  const std::int64_t data = whole_of(words, "parallelism.data");
  say(words, "training.global_batch",
      std::to_string(product({data, whole_of(words, "training.micro_batch"), whole_of(words, "@accumulation")})),
      "dp x tokens.micro_batch_size x tokens.batch_accumulation_per_replica");
  say(words, "cluster.gpus",
      std::to_string(product({data, whole_of(words, "parallelism.tensor"), whole_of(words, "parallelism.pipeline"),
                              whole_of(words, "parallelism.context")})),
      "dp x tp x pp x context_parallel_size");
  if (text_of(words, "parallelism.pipeline") == "1") say(words, "pipeline.schedule", "1f1b", "one stage has no order");
  if (text_of(words, "parallelism.tensor") == "1") say(words, "parallelism.sequence", "false", "one tensor rank");
  const std::string precision = text_of(words, "training.precision");
  if (text_of(words, "data_parallel.gradient_precision") == "own") {
    say(words, "data_parallel.gradient_precision", precision, "data_parallel.gradient_precision");
    say(words, "software.main_gradient_precision", precision, "data_parallel.gradient_precision");
  }
  if (words.contains("@bucket")) {
    const bool wide = text_of(words, "data_parallel.gradient_precision") == "fp32" && precision != "fp32";
    const std::int64_t bytes = whole_of(words, "@bucket") << (wide ? 21 : 20);
    say(words, "data_parallel.bucket", std::to_string(bytes) + " B", "@bucket");
  }
  if (words.contains("@qkv_bias")) say(words, "model.qkv_bias", text_of(words, "@qkv_bias"), "@qkv_bias");
  const std::string attention = text_of(words, "@attention");
  if (text_of(words, "parallelism.context") == "1") return;
  if (attention != "ring" && attention != "all-gather")
    throw InputError("model.model_config._attn_implementation",
                     "found " + in_quotes(attention.empty() ? "flash_attention_2" : attention) +
                         " with context_parallel_size above 1, expected ring or llama3_ring_attention");
  say(words, "parallelism.context_method", attention, "@attention");
}

std::vector<std::string> launch_nanotron(const Words&, const Launch& launch) {
  return {"CUDA_DEVICE_MAX_CONNECTIONS=1 " + torchrun(launch, "run_train.py --config-file FILE")};
}

Statements fill_nanotron() {
  return {{.name = "optimizer.weight_decay", .text = "0.01", .comment = "to fill in"},
          {.name = "optimizer.clip_grad", .text = "1.0", .comment = "to fill in"},
          {.name = "optimizer.optimizer_factory.adam_eps", .text = "1.0e-8", .comment = "to fill in"},
          {.name = "optimizer.optimizer_factory.adam_beta1", .text = "0.9", .comment = "to fill in"},
          {.name = "optimizer.optimizer_factory.adam_beta2", .text = "0.95", .comment = "to fill in"},
          {.name = "optimizer.optimizer_factory.torch_adam_is_fused", .text = "true"},
          {.name = "optimizer.learning_rate_scheduler.learning_rate", .text = "0.0003", .comment = "to fill in"},
          {.name = "optimizer.learning_rate_scheduler.lr_warmup_style", .text = "linear", .comment = "to fill in"},
          {.name = "optimizer.learning_rate_scheduler.lr_decay_style", .text = "cosine", .comment = "to fill in"},
          {.name = "optimizer.learning_rate_scheduler.min_decay_lr", .text = "0.00003", .comment = "to fill in"},
          {.name = "model.init_method.std", .text = "0.02", .comment = "to fill in"},
          {.name = "tokenizer.tokenizer_name_or_path", .text = "TOKENIZER", .comment = "to fill in"},
          {.name = "general.project", .text = "stepcast", .comment = "to fill in"},
          {.name = "checkpoints.checkpoints_path", .text = "checkpoints", .comment = "to fill in"},
          {.name = "checkpoints.checkpoint_interval", .text = "1000", .comment = "to fill in"},
          {.name = "data_stages",
           .text = "[{name: stable, start_training_step: 1, data: {dataset: null, seed: 42}}]",
           .comment = "to fill in: without a dataset samples are made up"}};
}

}  // namespace

extern const Framework nanotron;
const Framework nanotron{.name = "nanotron",
                         .title = "nanotron",
                         .version = "github.com/huggingface/nanotron @2411b02",
                         .software = "nanotron",
                         .syntax = yaml_syntax,
                         .rows = nanotron_rows,
                         .fixed = nanotron_fixed,
                         .refused = nanotron_refused,
                         .ignored = kNanotronIgnored,
                         .elsewhere = nanotron_elsewhere,
                         .spell = spell_nanotron,
                         .read = read_nanotron,
                         .launch = launch_nanotron,
                         .to_fill = fill_nanotron};

}  // namespace stepcast::language
