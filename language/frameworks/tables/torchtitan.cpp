#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "language/core/nearest.h"
#include "language/frameworks/framework.h"
#include "language/frameworks/tables/torchtitan_flavors.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/pytorch/torchtitan, release v0.2.2 (@73a0e69), the last one whose jobs are TOML files:
// torchtitan/config/job_config.py; distributed/pipeline_parallel.py for layers of stages, train.py for the batch,
// models/*/infra/parallelize.py for what is sharded.
namespace stepcast::language {
namespace {

const std::vector<FlagRow>& torchtitan_rows() {
  static const std::vector<FlagRow> rows{
      {.name = "model.name", .key = "@model", .remark = "model"},
      {.name = "model.flavor", .key = "@flavor", .remark = "model"},
      {.name = "model.converters",
       .key = "@converters",
       .spellings = {{"none", "[]"},
                     {"fp8", "[\"quantize.linear.float8\"]"},
                     {"mxfp8", "[\"quantize.linear.mx\"]"},
                     {"fp8", "[\"float8\"]"},
                     {"mxfp8", "[\"mx\"]"}},
       .remark = "training.precision"},
      {.name = "training.local_batch_size", .key = "@local_batch", .usual = "8", .remark = "training.micro_batch"},
      {.name = "training.global_batch_size", .key = "@global_batch", .usual = "-1", .remark = "training.global_batch"},
      {.name = "training.seq_len", .key = "training.sequence", .usual = "2048"},
      {.name = "training.mixed_precision_param",
       .key = "@precision",
       .usual = "bf16",
       .spellings = {{"bf16", "bfloat16"}, {"fp32", "float32"}},
       .remark = "training.precision"},
      {.name = "training.mixed_precision_reduce",
       .key = "data_parallel.gradient_precision",
       .usual = "fp32",
       .spellings = {{"fp32", "float32"}}},
      {.name = "training.enable_cpu_offload",
       .key = "@offload",
       .usual = "false",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "offload.optimizer, offload.parameters"},
      {.name = "optimizer.name",
       .key = "training.optimizer",
       .usual = "adam",
       .spellings = {{"adam", "AdamW"}, {"adam", "Adam"}}},
      {.name = "optimizer.early_step_in_backward",
       .key = "training.update_in_backward",
       .usual = "false",
       .spellings = {{"true", "true"}, {"false", "false"}}},
      {.name = "parallelism.data_parallel_replicate_degree",
       .key = "@replicas",
       .usual = "1",
       .remark = "parallelism.data"},
      {.name = "parallelism.data_parallel_shard_degree", .key = "@shards", .usual = "-1", .remark = "parallelism.data"},
      {.name = "parallelism.fsdp_reshard_after_forward",
       .key = "@reshard",
       .usual = "default",
       .spellings = {{"default", "default"}, {"always", "always"}, {"never", "never"}},
       .remark = "data_parallel.zero"},
      {.name = "parallelism.tensor_parallel_degree", .key = "parallelism.tensor", .usual = "1"},
      {.name = "parallelism.enable_async_tensor_parallel",
       .key = "software.tensor_overlap",
       .usual = "none",
       .spellings = {{"all", "true"}, {"none", "false"}}},
      {.name = "parallelism.disable_loss_parallel",
       .key = "software.loss_parallel",
       .usual = "true",
       .spellings = {{"true", "false"}, {"false", "true"}}},
      {.name = "parallelism.context_parallel_degree", .key = "parallelism.context", .usual = "1"},
      {.name = "parallelism.context_parallel_rotate_method",
       .key = "parallelism.context_method",
       .usual = "all-gather",
       .spellings = {{"all-gather", "allgather"}, {"ring", "alltoall"}}},
      {.name = "parallelism.expert_parallel_degree", .key = "parallelism.expert", .usual = "1"},
      {.name = "parallelism.expert_tensor_parallel_degree",
       .key = "parallelism.expert_tensor",
       .usual = "1",
       .spellings = {{"1", "1"}}},
      {.name = "parallelism.pipeline_parallel_degree", .key = "parallelism.pipeline", .usual = "1"},
      {.name = "parallelism.pipeline_parallel_schedule",
       .key = "pipeline.schedule",
       .usual = "1f1b",
       .spellings = {{"1f1b", "1F1B"},
                     {"gpipe", "GPipe"},
                     {"interleaved-1f1b", "Interleaved1F1B"},
                     {"zb-v", "ZBVZeroBubble"},
                     {"dualpipe-v", "DualPipeV"}}},
      {.name = "parallelism.pipeline_parallel_microbatch_size",
       .key = "@microbatch",
       .usual = "1",
       .remark = "training.micro_batch"},
      {.name = "parallelism.pipeline_parallel_layers_per_stage",
       .key = "@layers_per_chunk",
       .remark = "pipeline.virtual_stages"},
      {.name = "parallelism.module_fqns_per_model_part", .key = "@modules", .remark = "parallelism.layers_per_stage"},
      {.name = "parallelism.pipeline_parallel_first_stage_less_layers",
       .key = "@first_less",
       .usual = "1",
       .remark = "pipeline.embedding_as_layer"},
      {.name = "parallelism.pipeline_parallel_last_stage_less_layers",
       .key = "@last_less",
       .usual = "1",
       .remark = "pipeline.head_as_layer"},
      {.name = "activation_checkpoint.mode",
       .key = "recompute",
       .usual = "by-operator",
       .spellings = {{"none", "none"}, {"full", "full"}, {"by-operator", "selective"}}},
      {.name = "activation_checkpoint.selective_ac_option",
       .key = "@selective",
       .usual = "2",
       .remark = "recompute: op is by-operator, a number n full_layers, which has every n-th layer"},
      {.name = "compile.enable",
       .key = "@compiled",
       .usual = "false",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "software"},
      {.name = "quantize.linear.float8.recipe_name",
       .key = "@recipe",
       .spellings = {{"rowwise", "rowwise"}, {"current", "tensorwise"}},
       .remark = "training.scaling"},
      {.name = "quantize.linear.float8.enable_fsdp_float8_all_gather",
       .key = "@float8_gather",
       .spellings = {{"true", "true"}, {"false", "false"}},
       .remark = "training.eight_bit_parameters"},
  };
  return rows;
}

std::vector<FixedKey> torchtitan_fixed() {
  return {{"training.attention", "flash", "torchtitan's attention is scaled_dot_product_attention"}};
}

std::vector<RefusedName> torchtitan_refused() {
  return {
      {"parallelism.pipeline_parallel_schedule_csv", "is a file of passes, which is not read; give pipeline.orders"},
      {"training.dtype",
       "changes the answer; give --set software.master_weights=false, software.main_gradient_precision=bf16 and "
       "software.moment_precision=bf16, expected float32",
       "float32", "software.master_weights"},
      {"activation_checkpoint.early_stop",
       "changes the answer of layers that are not compiled; give --set software.recompute_stops_early=false", "true",
       "software.recompute_stops_early"},
      {"activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
       "changes the answer; expected [\"moe.router.gate\"]", "[\"moe.router.gate\"]"},
      {"fault_tolerance.enable", "changes the answer and has no key; expected false", "false"},
      {"parallelism.sequence", "its tensor ranks always share the sequence; expected true"},
      {"parallelism.order", "it has tensor, context, data, pipeline"},
      {"pipeline.micro_batch_group", "PyTorch's schedules choose it themselves"},
      {"recompute.every", "it checkpoints each layer by itself"},
      {"recompute.full_layers", "it checkpoints every n-th layer; expected a part of a chunk's layers without a rest"},
      {"recompute.modules", "it has no choice of modules"},
  };
}

constexpr std::string_view kTorchtitanIgnored =
    "job.* profiling.* metrics.* lr_scheduler.* checkpoint.* comm.* memory_estimation.* validation.* debug.* "
    "experimental.* model.hf_assets_path model.tokenizer_path model.print_after_conversion optimizer.lr "
    "optimizer.eps optimizer.beta1 optimizer.beta2 optimizer.weight_decay optimizer.implementation "
    "training.dataset training.dataset_path training.max_norm training.steps training.gc_* "
    "training.dataloader.* training.seed training.deterministic parallelism.context_parallel_load_balancer "
    "parallelism.expert_parallel_comm_backend parallelism.pipeline_parallel_expert_parallel_overlap "
    "compile.components compile.backend quantize.linear.float8.filter_fqns "
    "quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp quantize.linear.float8.emulate "
    "quantize.grouped_mm.* quantize.linear.mx.* activation_checkpoint.preserve_rng_state "
    "activation_checkpoint.determinism_check activation_checkpoint.debug fault_tolerance.process_group* "
    "fault_tolerance.replica_id fault_tolerance.group_size";

std::vector<FixedKey> torchtitan_elsewhere() { return {}; }

bool is_pipelined(const Words& words) { return text_of(words, "parallelism.pipeline") != "1"; }

/// Chunks of the model on a stage where the schedule alone says it.
std::optional<std::int64_t> chunks_of_schedule(const std::string& schedule) {
  if (schedule == "1f1b" || schedule == "gpipe") return 1;
  if (schedule == "zb-v" || schedule == "dualpipe-v") return 2;
  return std::nullopt;
}

/// Of the model, on all stages together.
std::int64_t chunks_of(const Words& words) {
  const std::string schedule = text_of(words, "pipeline.schedule"), stages = text_of(words, "pipeline.virtual_stages");
  return whole_of(words, "parallelism.pipeline") *
         chunks_of_schedule(schedule).value_or(stages.empty() ? 2 : std::stoll(stages));
}

/// Layers of each chunk by generate_llm_fqn_per_model_part(): what embedding and head count as is shared out too, and
/// the first chunks get what is left over.
std::vector<std::int64_t> titan_shares(std::int64_t chunks, std::int64_t layers, std::int64_t first_less,
                                       std::int64_t last_less) {
  const std::int64_t all = layers + first_less + last_less;
  std::vector<std::int64_t> shares;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) shares.push_back(all / chunks + (chunk < all % chunks ? 1 : 0));
  shares.front() -= first_less;
  shares.back() -= last_less;
  return shares;
}

/// The same as parallelism.layers_per_stage has them.
std::string titan_split(std::int64_t chunks, std::int64_t layers, std::int64_t first_less, std::int64_t last_less) {
  std::string list;
  for (const std::int64_t share : titan_shares(chunks, layers, first_less, last_less))
    list += (list.empty() ? "" : ", ") + std::to_string(share);
  return "[" + list + "]";
}

/// Layers of each chunk, in the order of the model.
std::vector<std::int64_t> layers_of_chunks(const Words& words, std::int64_t layers) {
  if (const std::string list = text_of(words, "parallelism.layers_per_stage"); !list.empty())
    return nlohmann::json::parse(list).get<std::vector<std::int64_t>>();
  const auto counts = [&](const char* key) { return text_of(words, key) == "true" ? 1 : 0; };
  return titan_shares(is_pipelined(words) ? chunks_of(words) : 1, layers, counts("pipeline.embedding_as_layer"),
                      counts("pipeline.head_as_layer"));
}

/// Whether some chunks have more layers than others.
bool has_unequal_chunks(const Words& words, std::int64_t layers) {
  if (!is_pipelined(words)) return false;
  for (const char* key : {"parallelism.layers_per_stage", "pipeline.embedding_as_layer", "pipeline.head_as_layer"})
    if (const std::string text = text_of(words, key); !text.empty() && text != "false") return true;
  return layers % chunks_of(words) != 0;
}

/// Names of the modules of each chunk, of layers of each chunk:
/// [["tok_embeddings","layers.0"],["layers.1","norm","output"]].
std::string modules_of(const std::string& list) {
  const nlohmann::json layers = nlohmann::json::parse(list);
  nlohmann::json chunks = nlohmann::json::array();
  std::int64_t next = 0;
  for (const nlohmann::json& count : layers) {
    nlohmann::json& chunk = chunks.emplace_back(nlohmann::json::array());
    if (chunks.size() == 1) chunk.push_back("tok_embeddings");
    for (auto i = count.get<std::int64_t>(); i > 0; --i) chunk.push_back("layers." + std::to_string(next++));
  }
  chunks.back().push_back("norm");
  chunks.back().push_back("output");
  return chunks.dump();
}

/// The other way round. Throws InputError where the modules are not in the order of the model.
std::string layers_of_modules(const Words& words) {
  const nlohmann::json chunks = nlohmann::json::parse(text_of(words, "@modules"), nullptr, /*allow_exceptions=*/false);
  nlohmann::json layers = nlohmann::json::array();
  if (chunks.is_array())
    for (const nlohmann::json& chunk : chunks)
      layers.push_back(std::ranges::count_if(chunk, [](const nlohmann::json& module) {
        return module.is_string() && module.get<std::string>().starts_with("layers.");
      }));
  std::string list = layers.dump();
  for (std::size_t comma = list.find(','); comma != list.npos; comma = list.find(',', comma + 2))
    list.insert(comma + 1, " ");
  if (layers.empty() || nlohmann::json::parse(modules_of(list)) != chunks)
    refuse(words, "@modules", "lists of tok_embeddings, layers.0 and so on, norm and output, in this order");
  return list;
}

void spell_flavor(Words& words) {
  const auto flavor = std::ranges::find_if(flavors(), [&](const Flavor& each) { return has_shape(words, each); });
  if (flavor == flavors().end()) {
    std::string names;
    for (const Flavor& each : flavors()) names += (names.empty() ? "" : ", ") + std::string(each.config);
    throw InputError("model", "found a shape that no flavor of torchtitan has; expected that of one of " + names);
  }
  say(words, "@model", std::string(flavor->model));
  say(words, "@flavor", std::string(flavor->flavor));
  if (flavor->model == "qwen3" && is_pipelined(words))
    throw InputError("parallelism.pipeline", "found " + text_of(words, "parallelism.pipeline") +
                                                 ", but torchtitan's qwen3 has no pipelines; expected 1");
  std::erase_if(words, [](const auto& word) { return word.first.starts_with("model."); });
}

void spell_stages(Words& words, std::int64_t layers) {
  const std::int64_t pipeline = whole_of(words, "parallelism.pipeline");
  const std::string schedule = text_of(words, "pipeline.schedule");
  const std::int64_t virtual_stages = chunks_of_schedule(schedule).value_or(whole_of(words, "pipeline.virtual_stages"));
  const std::int64_t chunks = pipeline * virtual_stages;
  std::string list = take(words, "parallelism.layers_per_stage");
  const std::int64_t first = take(words, "pipeline.embedding_as_layer") == "true" ? 1 : 0,
                     last = take(words, "pipeline.head_as_layer") == "true" ? 1 : 0;
  if (list.empty() && (layers + first + last) % chunks == 0) list = titan_split(chunks, layers, first, last);
  if (text_of(words, "pipeline.partition") == "layers") take(words, "pipeline.partition");
  static constexpr std::array<std::array<std::int64_t, 2>, 4> kLess{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}};
  const auto less = std::ranges::find_if(
      kLess, [&](const auto& each) { return titan_split(chunks, layers, each[0], each[1]) == list; });
  if (virtual_stages > 1) take(words, "pipeline.virtual_stages");
  if (less == kLess.end()) return say(words, "@modules", modules_of(list));
  say(words, "@first_less", std::to_string((*less)[0]));
  say(words, "@last_less", std::to_string((*less)[1]));
  const std::int64_t counted = layers + (*less)[0] + (*less)[1];
  say(words, "@layers_per_chunk", std::to_string((counted + chunks - 1) / chunks));
}

/// Throws InputError for micro-batches that PyTorch's schedules raise at (torch/distributed/pipelining/schedules.py:
/// Schedule1F1B, ScheduleInterleaved1F1B and ScheduleDualPipeV; the others take any number).
void check_micro_batches(Words& words, std::int64_t data) {
  const std::int64_t stages = whole_of(words, "parallelism.pipeline");
  const std::int64_t micro_batches =
      whole_of(words, "training.global_batch") / product({data, whole_of(words, "training.micro_batch")});
  const std::string schedule = text_of(words, "pipeline.schedule"),
                    found = "found " + std::to_string(micro_batches) + " micro-batches on " + std::to_string(stages) +
                            " stages, which torchtitan cannot be told: PyTorch's " + schedule;
  const std::int64_t least = schedule == "1f1b" ? stages : schedule == "dualpipe-v" ? 2 * stages : 1;
  if (micro_batches < least)
    throw InputError("training.global_batch", found + " needs at least " + std::to_string(least));
  if (schedule != "interleaved-1f1b") return;
  const std::int64_t rounds = std::max<std::int64_t>(1, micro_batches / stages);
  if (micro_batches % rounds != 0)
    throw InputError("training.global_batch", found +
                                                  " needs a multiple of its rounds, the micro-batches over the "
                                                  "stages rounded down, " +
                                                  std::to_string(rounds));
  // A round is a group; stepcast's own choice is of that size.
  if (text_of(words, "pipeline.micro_batch_group") == std::to_string(micro_batches / rounds))
    take(words, "pipeline.micro_batch_group");
}

void spell_sharding(Words& words) {
  const std::int64_t data = whole_of(words, "parallelism.data"), context = whole_of(words, "parallelism.context");
  const std::string group = take(words, "data_parallel.shard_group"), zero = text_of(words, "data_parallel.zero");
  // With no shards there is no group of them.
  const std::int64_t shared = group.empty() ? data * context : std::stoll(group);
  // Context ranks always share parameters with the data ranks that shard them.
  const std::int64_t shards = zero == "0" ? 1 : shared / context;
  const bool none = zero == "0";
  if (zero == "1" || none != (shards * context == 1))
    throw InputError("data_parallel.zero", "found " + in_quotes(zero) + ", expected " +
                                               (zero == "1" ? "0, 2 or 3: ZeRO 1 torchtitan has not"
                                                : none ? "2 or 3: torchtitan's context ranks always share parameters"
                                                       : "0: there are no ranks to share parameters"));
  if (shards < 1 || data % shards != 0 || (!none && shared % context != 0))
    throw InputError("data_parallel.shard_group",
                     "found " + in_quotes(group) + ", expected a multiple of parallelism.context " +
                         std::to_string(context) + " by a divisor of parallelism.data " + std::to_string(data));
  say(words, "@replicas", std::to_string(data / shards));
  say(words, "@shards", std::to_string(shards));
  say(words, "@reshard", zero == "3" ? is_pipelined(words) ? "always" : "default" : zero == "2" ? "never" : "default");
  take(words, "data_parallel.zero");
  take(words, "parallelism.data");
}

void spell_batch(Words& words, std::int64_t data) {
  const std::int64_t batch = whole_of(words, "training.global_batch");
  const std::string micro = take(words, "training.micro_batch");
  take(words, "training.global_batch");
  say(words, "@global_batch", std::to_string(batch));
  say(words, "@local_batch", is_pipelined(words) ? std::to_string(batch / data) : micro);
  if (is_pipelined(words)) say(words, "@microbatch", micro);
}

void spell_recompute(Words& words, std::int64_t layers) {
  const std::string recompute = text_of(words, "recompute"), repeated = text_of(words, "recompute.full_layers");
  if (recompute == "selective")
    throw InputError("recompute",
                     "found selective, the attention core, which torchtitan's selective mode is not; "
                     "expected none, full or by-operator");
  if (recompute == "by-operator") return say(words, "@selective", "op");
  if (repeated.empty() || has_unequal_chunks(words, layers)) return;
  const std::int64_t each = layers_of_chunks(words, layers).front(), of_each = std::stoll(repeated);
  if (of_each < each && each % of_each != 0) return;
  take(words, "recompute.full_layers");
  if (of_each >= each) return say(words, "recompute", "full");
  say(words, "recompute", "by-operator");  // its name of the mode, which the other word makes one by layer
  say(words, "@selective", "\"" + std::to_string(each / of_each) + "\"");
}

void spell_torchtitan(Words& words, const Framework&) {
  if (!words.contains("model.layers"))
    throw InputError("model.family", "found no decoder, expected one of torchtitan's llama3, qwen3 and deepseek_v3");
  const std::int64_t layers = whole_of(words, "model.layers"), data = whole_of(words, "parallelism.data");
  spell_flavor(words);
  if (is_pipelined(words)) check_micro_batches(words, data);
  spell_batch(words, data);
  spell_sharding(words);
  spell_recompute(words, layers);
  if (is_pipelined(words)) spell_stages(words, layers);
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  if (text_of(words, "parallelism.sequence") == "true" || text_of(words, "parallelism.tensor") == "1")
    take(words, "parallelism.sequence");
  else
    throw InputError("parallelism.sequence",
                     "found false, but torchtitan's tensor ranks always share the sequence; expected true");
  const std::string software = text_of(words, "software"), precision = text_of(words, "training.precision");
  const bool low = precision == "fp8" || precision == "mxfp8";
  if (low || precision == "bf16" || precision == "fp32") {
    say(words, "@precision", precision == "fp32" ? "fp32" : "bf16");
    say(words, "@converters", low ? precision : "none");
    take(words, "training.precision");
  }
  const std::string scaling = take(words, "training.scaling");
  if (precision == "fp8" && scaling == "delayed")
    throw InputError("training.scaling", "found delayed, which torchtitan has not; expected current or rowwise");
  // A recipe is not told beside how parameters are gathered; without one scales are tensor-wise.
  if (precision == "fp8" && scaling == "rowwise")
    say(words, "@recipe", scaling);
  else if (precision == "fp8")
    say(words, "@float8_gather", take(words, "training.eight_bit_parameters") == "true" ? "true" : "false");
  const bool eager = software == "torchtitan";
  const bool compiled = software == "torchtitan-compiled" || software == "torchtitan-float8" || (low && !eager);
  say(words, "@compiled", compiled ? "true" : "false");
  if (eager || software == (low ? "torchtitan-float8" : "torchtitan-compiled")) take(words, "software");
  const bool both = text_of(words, "offload.optimizer") == "host" && text_of(words, "offload.parameters") == "host";
  if (both) {
    take(words, "offload.optimizer");
    take(words, "offload.parameters");
  }
  say(words, "@offload", both ? "true" : "false");
  if (!words.contains("model.experts.count")) take(words, "parallelism.expert_tensor");
}

void read_flavor(Words& words) {
  std::vector<std::string_view> models, known;
  for (const Flavor& each : flavors()) {
    if (std::ranges::find(models, each.model) == models.end()) models.push_back(each.model);
    if (each.model == text_of(words, "@model")) known.push_back(each.flavor);
  }
  if (known.empty())
    refuse(words, "@model", "a model whose shape is known: " + one_of(text_of(words, "@model"), models));
  const auto flavor = std::ranges::find_if(flavors(), [&](const Flavor& each) {
    return each.model == text_of(words, "@model") && each.flavor == text_of(words, "@flavor");
  });
  if (flavor == flavors().end())
    refuse(words, "@flavor", "a flavor whose shape is known: " + one_of(text_of(words, "@flavor"), known));
  say(words, "model", std::string(flavor->config), "@flavor");
}

void read_sharding(Words& words) {
  const std::int64_t replicas = whole_of(words, "@replicas"), context = whole_of(words, "parallelism.context");
  const std::int64_t model =
      product({whole_of(words, "parallelism.tensor"), context, whole_of(words, "parallelism.pipeline")});
  std::int64_t shards = whole_of(words, "@shards", -1);
  if (shards < 1) {
    if (!words.contains("cluster.gpus"))
      throw InputError("parallelism.data_parallel_shard_degree",
                       "found -1, all GPUs that are left, expected --set cluster.gpus=N to know them");
    const std::int64_t gpus = whole_of(words, "cluster.gpus");
    if (gpus % product({replicas, model}) != 0)
      throw InputError("--set", "cluster.gpus: found " + std::to_string(gpus) + ", expected a multiple of " +
                                    std::to_string(replicas * model) + ", the file's other degrees");
    shards = gpus / (replicas * model);
  }
  const std::int64_t data = product({replicas, shards});
  say(words, "parallelism.data", std::to_string(data), "@shards");
  say(words, "cluster.gpus", std::to_string(product({data, model})), "of the degrees of parallelism");
  if (shards * context == 1) return say(words, "data_parallel.zero", "0", "no ranks that share parameters");
  const std::string policy = text_of(words, "@reshard");
  const bool reshards = policy == "always" || (policy == "default" && !is_pipelined(words));
  say(words, "data_parallel.zero", reshards ? "3" : "2", "@reshard");
  if (replicas > 1) say(words, "data_parallel.shard_group", std::to_string(shards * context), "@replicas");
}

void read_stages(Words& words) {
  const auto flavor = std::ranges::find(flavors(), text_of(words, "model"), &Flavor::config);
  const std::int64_t pipeline = whole_of(words, "parallelism.pipeline"), layers = flavor->layers;
  const std::int64_t first = whole_of(words, "@first_less", 0), last = whole_of(words, "@last_less", 0);
  const std::string schedule = text_of(words, "pipeline.schedule");
  std::int64_t chunks = pipeline * chunks_of_schedule(schedule).value_or(2);
  if (words.contains("@modules")) {
    const std::string list = layers_of_modules(words);
    say(words, "parallelism.layers_per_stage", list, "@modules");
    const std::int64_t parts = std::ranges::count(list, ',') + 1;
    if (parts % pipeline != 0 || (chunks_of_schedule(schedule) && parts != chunks))
      refuse(words, "@modules", "the schedule's chunks on each of " + std::to_string(pipeline) + " stages");
    chunks = parts;
  } else if (words.contains("@layers_per_chunk")) {
    const std::int64_t each = whole_of(words, "@layers_per_chunk");
    const std::int64_t parts = (layers + first + last + each - 1) / each;
    if (parts % pipeline != 0 || (chunks_of_schedule(schedule) && parts != chunks))
      refuse(words, "@layers_per_chunk",
             "as many layers as make the schedule's chunks on each of " + std::to_string(pipeline) + " stages");
    chunks = parts;
  }
  if (!chunks_of_schedule(schedule))
    say(words, "pipeline.virtual_stages", std::to_string(chunks / pipeline),
        words.contains("@layers_per_chunk") ? "@layers_per_chunk" : "torchtitan's default of schedules with several");
  if (words.contains("@modules")) return;
  if (chunks > layers + first + last)
    refuse(words, "parallelism.pipeline", "as many chunks of the model as it has layers, or fewer");
  if ((layers + first + last) % chunks != 0 || first > 1 || last > 1)
    return say(words, "parallelism.layers_per_stage", titan_split(chunks, layers, first, last),
               "torchtitan's shares of the layers: the first stages get one more");
  if (first == 1) say(words, "pipeline.embedding_as_layer", "true", "@first_less");
  if (last == 1) say(words, "pipeline.head_as_layer", "true", "@last_less");
}

void read_batch(Words& words) {
  const std::int64_t data = whole_of(words, "parallelism.data"), local = whole_of(words, "@local_batch");
  const std::int64_t said = whole_of(words, "@global_batch", -1), batch = said < 1 ? product({local, data}) : said;
  say(words, "training.global_batch", std::to_string(batch), said < 1 ? "@local_batch" : "@global_batch");
  if (is_pipelined(words) && batch != local * data)
    throw InputError("training.global_batch_size",
                     "found " + std::to_string(batch) + " with local batches of " + std::to_string(local) + " on " +
                         std::to_string(data) + " data ranks: several pipelines in a step are not modelled; expected " +
                         std::to_string(local * data));
  say(words, "training.micro_batch", is_pipelined(words) ? text_of(words, "@microbatch") : std::to_string(local),
      is_pipelined(words) ? "@microbatch" : "@local_batch");
}

void read_recompute(Words& words) {
  const std::string recompute = take(words, "recompute"), option = text_of(words, "@selective");
  if (recompute != "by-operator" || option == "op")
    return say(words, "recompute", recompute, "activation_checkpoint.mode");
  if (option.empty() || option.size() > 4 || option.find_first_not_of("0123456789") != option.npos)
    refuse(words, "@selective", "op, or a number n: every n-th layer");
  const auto flavor = std::ranges::find(flavors(), text_of(words, "model"), &Flavor::config);
  const std::vector<std::int64_t> chunks = layers_of_chunks(words, flavor->layers);
  const std::int64_t most = std::ranges::max(chunks), every = std::max(1, std::stoi(option));
  if (every == 1) return say(words, "recompute", "full", "@selective");
  if (most < every) return say(words, "recompute", "none", "there are not so many layers");
  // It counts all layers of a rank one after the other, whichever chunk they are of; a scenario repeats as many of
  // each.
  const bool exact =
      !is_pipelined(words) || std::ranges::all_of(chunks, [&](std::int64_t n) { return n == most && n % every == 0; });
  say(words, "recompute.full_layers", std::to_string(most / every),
      exact ? "@selective" : "every n-th layer of the longest chunk; others may have one more or less");
}

void read_torchtitan(Words& words, const Framework&) {
  read_flavor(words);
  read_sharding(words);
  read_batch(words);
  if (is_pipelined(words))
    read_stages(words);
  else
    say(words, "pipeline.schedule", "1f1b", "one stage has no order");
  const bool tensor = text_of(words, "parallelism.tensor") != "1";
  say(words, "parallelism.sequence", tensor ? "true" : "false",
      tensor ? "torchtitan's tensor ranks always share the sequence" : "one tensor rank");
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  const std::string converters = text_of(words, "@converters");
  const bool low = converters == "fp8" || converters == "mxfp8";
  say(words, "training.precision", low ? converters : text_of(words, "@precision"), low ? "@converters" : "@precision");
  const bool recipe = words.contains("@recipe");
  if (converters == "fp8")
    say(words, "training.scaling", recipe ? text_of(words, "@recipe") : "current",
        recipe ? "@recipe" : "tensor-wise scales of the tensor itself");
  if (converters == "fp8" && text_of(words, "@float8_gather") == "true")
    say(words, "training.eight_bit_parameters", "true", "@float8_gather");
  const bool compiled = text_of(words, "@compiled") == "true";
  say(words, "software",
      !compiled ? "torchtitan"
      : low     ? "torchtitan-float8"
                : "torchtitan-compiled",
      compiled && low ? "@converters" : "@compiled");
  if (text_of(words, "@offload") == "true") {
    say(words, "offload.optimizer", "host", "@offload");
    say(words, "offload.parameters", "host", "@offload");
  }
  read_recompute(words);
}

std::vector<std::string> launch_torchtitan(const Words&, const Launch& launch) {
  return {"torchrun --nnodes " + std::to_string(launch.nodes) + " --nproc-per-node " +
          std::to_string(launch.gpus_per_node) +
          (launch.nodes > 1 ? " --rdzv-backend c10d --rdzv-endpoint \"$MASTER_ADDR:29500\"" : "") +
          " -m torchtitan.train --job.config_file FILE"};
}

Statements fill_torchtitan() {
  return {{.name = "model.hf_assets_path", .text = "./assets/hf/MODEL", .comment = "to fill in: the tokenizer"},
          {.name = "training.dataset", .text = "c4", .comment = "to fill in"},
          {.name = "training.steps", .text = "1000", .comment = "to fill in"},
          {.name = "optimizer.lr", .text = "3e-4", .comment = "to fill in"}};
}

}  // namespace

extern const Framework torchtitan;
const Framework torchtitan{.name = "torchtitan",
                           .title = "torchtitan",
                           .version = "github.com/pytorch/torchtitan v0.2.2 @73a0e69",
                           .software = "torchtitan",
                           .syntax = toml_syntax,
                           .rows = torchtitan_rows,
                           .fixed = torchtitan_fixed,
                           .refused = torchtitan_refused,
                           .ignored = kTorchtitanIgnored,
                           .elsewhere = torchtitan_elsewhere,
                           .spell = spell_torchtitan,
                           .read = read_torchtitan,
                           .launch = launch_torchtitan,
                           .to_fill = fill_torchtitan};

}  // namespace stepcast::language
