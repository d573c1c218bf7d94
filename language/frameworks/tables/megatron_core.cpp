#include "language/frameworks/tables/megatron_core.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "language/frameworks/tables/expert_layers.h"
#include "language/frameworks/tables/stage_layout.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Names and meanings: github.com/NVIDIA/Megatron-LM, release core_v0.14.0 (@23e00ed), megatron/training/arguments.py,
// whose validate_args() says what a flag implies, and megatron/core/transformer/transformer_config.py.
namespace stepcast::language {
namespace {

bool says(const Words& words, std::string_view key) {
  const std::string text = text_of(words, key);
  return !text.empty() && text != "false";
}

/// Says a word that follows from another of the framework's own, or from that it is not said.
void say_by(Words& words, const Framework& framework, std::string_view key, std::string text, std::string_view own) {
  say(words, key, std::move(text), words.contains(own) ? std::string(own) : "assumed: no " + name_in(framework, own));
}

/// Whether the framework has a name for the word. What it has none for stays a key of the scenario, which emit() then
/// refuses by that name.
bool has_row(const Framework& framework, std::string_view word) {
  return std::ranges::any_of(framework.rows(), [&](const FlagRow& row) { return row.key == word; });
}

void spell_precision(Words& words, const Framework& framework) {
  const std::string precision = take(words, "training.precision");
  if (precision == "fp16") say(words, "@fp16", "true");
  if (precision == "bf16" || precision == "fp8" || precision == "mxfp8") say(words, "@bf16", "true");
  if (precision == "fp8" || precision == "mxfp8") {
    say(words, "@fp8", "true");
    const std::string scaling = take(words, "training.scaling");
    if (scaling == "rowwise")
      throw InputError("training.scaling",
                       "found rowwise, which Transformer Engine has not; expected delayed or current");
    say(words, "@fp8_recipe", precision == "mxfp8" ? "mxfp8" : scaling);
  }
  if (precision == "tf32" || precision == "nvfp4") say(words, "training.precision", precision);
  if (!has_row(framework, "@bf16_ends")) return;
  const std::string start = take(words, "training.bf16_layers_at_start"),
                    end = take(words, "training.bf16_layers_at_end");
  if (!start.empty() || !end.empty()) {
    say(words, "@bf16_ends", "true");
    say(words, "@bf16_start", start.empty() ? "0" : start);
    say(words, "@bf16_end", end.empty() ? "0" : end);
  }
}

/// Gradients, where the framework has not spelled them itself.
void spell_gradients(Words& words, const Framework& framework) {
  if (!words.contains("data_parallel.gradient_precision")) return;
  const std::string precision = text_of(words, "@fp16") == "true"   ? "fp16"
                                : text_of(words, "@bf16") == "true" ? "bf16"
                                                                    : "fp32";
  const std::string gradients = text_of(words, "data_parallel.gradient_precision");
  const std::string usual = precision == "fp16" ? "fp16" : "fp32";
  if (gradients != usual) {
    if (gradients == "bf16" && !text_of(words, "@bf16").empty())
      say(words, "@gradients_bf16", "true");
    else if (gradients == "fp32")
      say(words, "@gradients_fp32", "true");
    else
      throw InputError("data_parallel.gradient_precision",
                       "found " + in_quotes(gradients) + ", which " + std::string(framework.title) +
                           " has not with training.precision " + precision + "; expected " + usual +
                           (precision == "fp16" ? " or fp32" : " or bf16"));
  }
  take(words, "data_parallel.gradient_precision");
  take_kept_as_summed(words, gradients);
}

void read_precision(Words& words, const Framework& framework) {
  refuse_both(words, "@bf16", "@fp16");
  const bool bf16 = says(words, "@bf16"), fp16 = says(words, "@fp16");
  const std::string recipe = text_of(words, "@fp8_recipe");
  if (says(words, "@fp8")) {
    say(words, "training.precision", recipe == "mxfp8" ? "mxfp8" : "fp8", "@fp8");
    if (recipe != "mxfp8")
      say_by(words, framework, "training.scaling", recipe.empty() ? "delayed" : recipe, "@fp8_recipe");
  } else {
    say(words, "training.precision",
        bf16   ? "bf16"
        : fp16 ? "fp16"
               : "fp32",
        bf16   ? "@bf16"
        : fp16 ? "@fp16"
               : "assumed, " + std::string(framework.title) + "'s default: neither bf16 nor fp16");
  }
  if (says(words, "@bf16_ends")) {
    const std::string start = text_of(words, "@bf16_start"), end = text_of(words, "@bf16_end");
    say(words, "training.bf16_layers_at_start", start.empty() ? "1" : start, "@bf16_ends");
    say(words, "training.bf16_layers_at_end", end.empty() ? "1" : end, "@bf16_ends");
  }
  const bool in_bf16 = says(words, "@gradients_bf16"), in_fp32 = says(words, "@gradients_fp32");
  const std::string gradients = in_bf16 ? "bf16" : fp16 && !in_fp32 ? "fp16" : "fp32";
  say_by(words, framework, "data_parallel.gradient_precision", gradients, "@gradients_bf16");
  say_by(words, framework, "software.main_gradient_precision", gradients, "@gradients_bf16");
}

void spell_pipeline(Words& words, const Framework& framework) {
  const std::string schedule = text_of(words, "pipeline.schedule");
  if (schedule == "1f1b" || schedule == "interleaved-1f1b") {
    take(words, "pipeline.schedule");
    const std::string stages = take(words, "pipeline.virtual_stages");
    if (schedule != "1f1b") say(words, "@virtual_stages", stages);
  }
  if (words.contains("parallelism.layers_per_stage") && has_row(framework, "@layout")) {
    take(words, "@virtual_stages");  // Megatron-LM counts them in the layout
    say(words, "@layout", stage_layout(words, take(words, "parallelism.layers_per_stage")));
  }
  const std::string order = text_of(words, "parallelism.order");
  if (order == "[tensor, context, pipeline, data]" && has_row(framework, "@pipeline_inside_data")) {
    take(words, "parallelism.order");
    say(words, "@pipeline_inside_data", "true");
  }
}

/// Micro-batches in a group of several virtual stages, where nobody says how many: as many as stages. Throws InputError
/// where fewer than these are left for the last group, which Megatron Core refuses (forward_backward_pipelining_with_
/// interleaving() in megatron/core/pipeline_parallel/schedules.py), while stepcast would choose another size.
void read_groups(Words& words, const Framework& framework) {
  if (words.contains("pipeline.micro_batch_group")) return;
  const std::int64_t stages = whole_of(words, "parallelism.pipeline");
  const std::string own = name_in(framework, "pipeline.micro_batch_group");
  for (const char* size : {"cluster.gpus", "training.global_batch", "training.micro_batch"})
    if (!words.contains(size))
      return say(words, "pipeline.micro_batch_group", std::to_string(stages),
                 "assumed, " + std::string(framework.title) + "'s default, the stages: no " + own);
  const std::int64_t ranks = product(
                         {whole_of(words, "parallelism.tensor"), whole_of(words, "parallelism.context"), stages}),
                     gpus = whole_of(words, "cluster.gpus"), batch = whole_of(words, "training.global_batch"),
                     at_once =
                         product({std::max<std::int64_t>(1, gpus / ranks), whole_of(words, "training.micro_batch")});
  if (gpus % ranks != 0 || batch % at_once != 0) return;  // the scenario's checks say so
  const std::int64_t micro_batches = batch / at_once, left = micro_batches % stages;
  if (micro_batches < stages || left == 0) return;  // likewise
  refuse(words, "training.global_batch",
         "another, or " + own + ": without it " + std::to_string(micro_batches) +
             " micro-batches go in groups of as many as stages, " + std::to_string(stages) + ", and " +
             std::string(framework.title) + " refuses a last group of " + std::to_string(left));
}

void read_pipeline(Words& words, const Framework& framework) {
  refuse_both(words, "@virtual_stages", "@layers_per_chunk");
  for (const char* other : {"@first_layers", "@last_layers", "pipeline.embedding_as_layer", "pipeline.head_as_layer"})
    refuse_both(words, "@layout", other);
  if (says(words, "@pipeline_inside_data"))
    say(words, "parallelism.order", "[tensor, context, pipeline, data]", "@pipeline_inside_data");
  const std::int64_t pipeline = whole_of(words, "parallelism.pipeline");
  std::int64_t chunks = words.contains("@virtual_stages") ? whole_of(words, "@virtual_stages") : 1;
  if (words.contains("@layers_per_chunk")) {
    // validate_args() in Megatron-LM's arguments.py counts the embedding and the loss among the layers, if told so.
    const std::int64_t layers = whole_of(words, "model.layers") + says(words, "pipeline.embedding_as_layer") +
                                says(words, "pipeline.head_as_layer"),
                       each = whole_of(words, "@layers_per_chunk");
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
  if (pipeline > 1 && chunks > 1) read_groups(words, framework);
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

/// Whose fused attention runs is no flag's to say but --attention-backend's, whose `flash` and `fused` set Transformer
/// Engine's variables (_set_attention_backend in megatron/core/models/common/language_module/language_module.py); since
/// Megatron Core's models nothing reads --use-flash-attn (the same repository, @d98e8a64).
void remark_on_attention(Words& words) {
  const auto word = words.find("training.attention");
  if (word == words.end() || word->second.text != "flash") return;
  word->second.remark =
      "on Hopper and later cuDNN's, which Transformer Engine prefers; where it is told FlashAttention "
      "(NVTE_FUSED_ATTN=0, as attention backend flash sets) say software.flash_2: true and software.attention_by: "
      "flash_attention_2, or _3";
}

void read_data_parallel(Words& words, const Framework& framework) {
  const bool shards = says(words, "@shards"), fsdp = says(words, "@fsdp");
  const std::string strategy = text_of(words, "@strategy");
  if (fsdp)
    say(words, "data_parallel.zero", strategy.empty() ? "0" : strategy,
        strategy.empty() ? "assumed: " + name_in(framework, "@fsdp") + " shards nothing unless told" : "@strategy");
  else
    say_by(words, framework, "data_parallel.zero", shards ? "1" : "0", "@shards");
  if (words.contains("@bucket")) {
    const std::int64_t element = text_of(words, "data_parallel.gradient_precision") == "fp32" ? 4 : 2;
    say(words, "data_parallel.bucket", std::to_string(whole_of(words, "@bucket") * element) + " B", "@bucket");
  }
}

void spell_memory(Words& words, const Framework& framework) {
  const std::string recompute = take(words, "recompute"), every = take(words, "recompute.every"),
                    layers = take(words, "recompute.full_layers"), list = text_of(words, "recompute.modules");
  const bool names_modules = has_row(framework, "@recompute_modules");
  if (recompute == "by-operator")
    throw InputError("recompute", "found by-operator, which " + std::string(framework.title) +
                                      " has not; expected none, selective or full");
  // Without a name for modules, selective is the attention core.
  const std::string modules = names_modules || list == "[core_attn]" ? take(words, "recompute.modules") : "";
  if (!every.empty() && !layers.empty())
    throw InputError("recompute.every",
                     "found beside recompute.full_layers, expected one of them: " + std::string(framework.title) +
                         " recomputes uniformly or a block of layers");
  if (recompute == "full" || !every.empty() || !layers.empty()) {
    say(words, "@recompute", "full");
    say(words, "@recompute_method", layers.empty() ? "uniform" : "block");
    say(words, "@recompute_layers", !layers.empty() ? layers : every.empty() ? "1" : every);
  } else if (recompute == "selective" || !modules.empty()) {
    say(words, "@recompute", "selective");
    std::string names = modules;
    if (framework.syntax.launches) std::erase_if(names, [](char c) { return c == '[' || c == ']' || c == ','; });
    if (!names.empty() && names_modules) say(words, "@recompute_modules", names);
  }
  if (text_of(words, "offload.optimizer") == "host" && has_row(framework, "@offload")) {
    take(words, "offload.optimizer");
    say(words, "@offload", "true");
    say(words, "@aware", "true");
  }
}

void read_memory(Words& words, const Framework& framework) {
  if (words.contains("@checkpoint_method")) {
    refuse_both(words, "@recompute", "@checkpoint_method");
    say(words, "@recompute", "full", "@checkpoint_method");
    say(words, "@recompute_method", text_of(words, "@checkpoint_method"), "@checkpoint_method");
  }
  const std::string recompute = text_of(words, "@recompute"), method = text_of(words, "@recompute_method");
  const std::string modules = text_of(words, "@recompute_modules");
  const std::string layers = recompute == "full" && words.contains("@recompute_layers")
                                 ? std::to_string(whole_of(words, "@recompute_layers"))
                                 : "1";
  if (recompute == "full" && method.empty())
    throw InputError(name_in(framework, "@recompute_method"),
                     "missing beside " + name_in(framework, "@recompute") + " full, expected uniform or block");
  if (recompute == "full" && method == "block")
    say(words, "recompute.full_layers", layers, "@recompute_method");
  else if (recompute == "full" && layers != "1")
    say(words, "recompute.every", layers, "@recompute_layers");
  else if (recompute == "selective" && !modules.empty()) {
    say(words, "recompute.modules", list_of_names(modules), "@recompute_modules");
  } else {
    say_by(words, framework, "recompute", recompute.empty() ? "none" : recompute, "@recompute");
  }
  if (says(words, "@offload")) say(words, "offload.optimizer", "host", "@offload");
}

/// The loss is compiled in regions, unless Transformer Engine's kernel is asked for.
void spell_loss(Words& words, const Framework& framework) {
  if (!has_row(framework, "@fused_loss")) return;
  const std::string fused = take(words, "software.fused_cross_entropy");
  say(words, "@fused_loss", fused == "false" ? "false" : "true");
  if (fused != "false") say(words, "@loss_kernel", fused == "true" ? "te" : "native");
}

void read_loss(Words& words, const Framework& framework) {
  if (!has_row(framework, "@fused_loss")) return;
  const bool fused = says(words, "@fused_loss");
  say_by(words, framework, "software.fused_cross_entropy",
         !fused                                   ? "false"
         : text_of(words, "@loss_kernel") == "te" ? "true"
                                                  : "in_regions",
         "@fused_loss");
}

/// Megatron-LM's --moe-layer-freq of some layers without experts in front of the others.
std::string expert_pattern(std::int64_t dense, std::int64_t layers) {
  return "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(layers - dense) + ")";
}

/// The same as configurations have it: "[0, 1, 1]".
std::string expert_list(std::int64_t dense, std::int64_t layers) {
  std::string list;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    list += std::string(layer == 0 ? "" : ", ") + (layer < dense ? "0" : "1");
  return "[" + list + "]";
}

void spell_model(Words& words, const Framework& framework) {
  const std::string family = take(words, "model.family");
  if (family.empty())
    throw InputError("model.family",
                     "found no decoder, expected gpt, llama or moe, which " + std::string(framework.title) + " starts");
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
  if (has_row(framework, "@latent") && words.contains("model.latent.kv_rank")) {
    say(words, "@latent", "true");
    say(words, "model.qk_norm", "true");  // the norms of the two compressed vectors
    if (const std::string rank = take(words, "model.latent.query_rank"); rank != "0") say(words, "@query_rank", rank);
  }
  if (!words.contains("model.experts.count") || text_of(words, "parallelism.tensor") == "1")
    take(words, "parallelism.expert_tensor");  // as many as tensor ranks, where it is not said
  if (!words.contains("model.experts.count")) return;
  if (const std::string shared = take(words, "model.experts.shared_ffn"); shared != "0")
    say(words, "@shared_ffn", shared);
  const std::int64_t dense = whole_of(words, "model.experts.dense_layers", 0), layers = whole_of(words, "model.layers");
  take(words, "model.experts.dense_layers");
  if (dense > 0)
    say(words, "@expert_layers",
        framework.syntax.launches ? expert_pattern(dense, layers) : expert_list(dense, layers));
  say(words, "@dispatcher", "alltoall");
  if (words.contains("training.experts.capacity")) say(words, "@padded", "true");
}

/// Which layers have experts: dense ones in front, each so-many-th, or whatever else the list says.
void read_expert_layers(Words& words, const Framework& framework) {
  const std::string written = text_of(words, "@expert_layers");
  if (written.empty()) return say_by(words, framework, "model.experts.dense_layers", "0", "@expert_layers");
  constexpr std::int64_t kMostLayers = 100'000;  // far more than any model has: the pattern names each of them
  if (whole_of(words, "model.layers") > kMostLayers)
    refuse(words, "model.layers",
           "at most " + std::to_string(kMostLayers) + " layers beside " + name_in(framework, "@expert_layers"));
  const std::optional<std::vector<bool>> routes = expert_layers(written, whole_of(words, "model.layers"));
  if (!routes || std::ranges::find(*routes, true) == routes->end())
    refuse(words, "@expert_layers",
           "a whole number, or a list of 0 and 1 with one for each of the " + text_of(words, "model.layers") +
               " layers, as ([0]*3+[1]*58) of 61");
  const auto first = static_cast<std::size_t>(std::ranges::find(*routes, true) - routes->begin());
  const auto is_each = [&](auto has_experts) {
    for (std::size_t layer = 0; layer < routes->size(); ++layer)
      if ((*routes)[layer] != has_experts(layer)) return false;
    return true;
  };
  if (is_each([&](std::size_t layer) { return layer >= first; }))
    return say(words, "model.experts.dense_layers", std::to_string(first), "@expert_layers");
  if (is_each([&](std::size_t layer) { return (layer + 1) % (first + 1) == 0; }))
    return say(words, "model.experts.every", std::to_string(first + 1), "@expert_layers");
  if (words.contains("model.pattern"))
    refuse(words, "@expert_layers", "1 beside " + name_in(framework, "model.pattern") + ", which says it itself");
  std::size_t period = 1;
  while (routes->size() % period != 0 || !is_each([&](std::size_t layer) { return (*routes)[layer % period]; }))
    ++period;
  std::string pattern;
  for (std::size_t layer = 0; layer < period; ++layer) pattern += (*routes)[layer] ? "(*E)" : "(*-)";
  say(words, "model.pattern", pattern, "@expert_layers");
}

void read_experts(Words& words, const Framework& framework) {
  say(words, "model.family", "moe", "model.experts.count");
  if (text_of(words, "@norm") != "rms")
    throw InputError(name_in(framework, "@norm"), "found LayerNorm beside " +
                                                      name_in(framework, "model.experts.count") +
                                                      ", expected RMSNorm: no family has experts and LayerNorm");
  if (!words.contains("model.experts.active"))
    say(words, "model.experts.active", "2",
        "assumed, " + std::string(framework.title) + "'s default: no " + name_in(framework, "model.experts.active"));
  if (!words.contains("model.experts.ffn")) say(words, "model.experts.ffn", text_of(words, "model.ffn"), "model.ffn");
  if (words.contains("@shared_ffn"))
    say(words, "model.experts.shared_ffn", text_of(words, "@shared_ffn"), "@shared_ffn");
  if (!words.contains("software.grouped_multiply"))
    say(words, "software.grouped_multiply", "false",
        "assumed, " + std::string(framework.title) + "'s default: no " +
            name_in(framework, "software.grouped_multiply"));
  read_expert_layers(words, framework);
  if (!words.contains("parallelism.expert_tensor"))
    say(words, "parallelism.expert_tensor", text_of(words, "parallelism.tensor"),
        "assumed, " + std::string(framework.title) + "'s default, as many as tensor ranks: no " +
            name_in(framework, "parallelism.expert_tensor"));
  const bool spread = text_of(words, "parallelism.expert") != "1" || text_of(words, "parallelism.expert_tensor") != "1";
  if (const std::string way = text_of(words, "@dispatcher"); spread && way != "alltoall")
    throw InputError(name_in(framework, "@dispatcher"),
                     "found " + in_quotes(way.empty() ? "allgather" : way) + ", " + std::string(framework.title) +
                         "'s default, which is not modelled; expected alltoall or flex");
}

void read_attention(Words& words, const Framework& framework) {
  if (!says(words, "@latent")) {
    for (const char* key :
         {"model.latent.kv_rank", "model.latent.head", "model.latent.rotary", "model.latent.value", "@query_rank"})
      take(words, key);
    say(words, "model.kv_heads",
        words.contains("@groups") ? words.contains("@kv_heads") ? text_of(words, "@kv_heads") : "1"
                                  : text_of(words, "model.heads"),
        words.contains("@kv_heads") ? "@kv_heads"
        : words.contains("@groups")
            ? "assumed, " + std::string(framework.title) + "'s default of " + name_in(framework, "@kv_heads")
            : "assumed: no " +
                  name_in(framework, name_in(framework, "@groups") == "@groups" ? "@kv_heads" : "@groups"));
    return;
  }
  take(words, "model.head_width");
  take(words, "model.qk_norm");  // the norms of the two compressed vectors, which latent attention has
  const auto usual = [&](const char* key, const char* value) {
    if (!words.contains(key)) say(words, key, value, "assumed, " + std::string(framework.title) + "'s default");
  };
  usual("model.latent.kv_rank", "32");
  usual("model.latent.head", "128");
  usual("model.latent.rotary", "64");
  usual("model.latent.value", "128");
  say(words, "model.latent.query_rank", words.contains("@query_rank") ? text_of(words, "@query_rank") : "0",
      words.contains("@query_rank") ? "@query_rank" : "assumed: no " + name_in(framework, "@query_rank"));
}

void read_model(Words& words, const Framework& framework) {
  const std::int64_t hidden = whole_of(words, "model.hidden");
  if (!words.contains("model.ffn"))
    say(words, "model.ffn",
        std::to_string(text_of(words, "model.activation") == "swiglu" ? 8 * hidden / 3 / 64 * 64 : 4 * hidden),
        "assumed, " + std::string(framework.title) + "'s default of " + name_in(framework, "model.hidden"));
  read_attention(words, framework);
  const auto dropped = [&](const char* key) { return std::strtod(text_of(words, key).c_str(), nullptr) > 0; };
  const bool attention = dropped("@attention_dropout"), rest = dropped("@hidden_dropout");
  say(words, "model.dropout", attention || rest ? "true" : "false",
      name_in(framework, "@attention_dropout") + ", " + name_in(framework, "@hidden_dropout"));
  if (text_of(words, "model.position_encoding") == "learned" && words.contains("@positions"))
    say(words, "model.positions", text_of(words, "@positions"), "@positions");
  if (words.contains("model.experts.count")) return read_experts(words, framework);
  for (const char* key :
       {"model.experts.active", "model.experts.ffn", "software.grouped_multiply", "training.experts.capacity"})
    take(words, key);
  say(words, "model.family", text_of(words, "@norm") == "rms" ? "llama" : "gpt", "@norm");
}

}  // namespace

void take_kept_as_summed(Words& words, std::string_view gradients) {
  const auto kept = words.find("software.main_gradient_precision");
  if (kept != words.end() && kept->second.text == gradients) words.erase(kept);
}

void spell_instances(Words& words) {
  if (!words.contains("data_parallel.shard_group")) return;
  const std::int64_t copies = product({whole_of(words, "parallelism.data"), whole_of(words, "parallelism.context")});
  const std::int64_t group = whole_of(words, "data_parallel.shard_group");
  take(words, "data_parallel.shard_group");
  if (group < copies) say(words, "@instances", std::to_string(copies / group));
}

void read_instances(Words& words) {
  if (!words.contains("@instances")) return;
  const std::int64_t instances = whole_of(words, "@instances");
  if (instances == 1) return;
  if (text_of(words, "data_parallel.zero") == "0") refuse(words, "@instances", "1 without a distributed optimizer");
  if (!words.contains("cluster.gpus")) refuse(words, "@instances", "1, or --set cluster.gpus=N to know the data ranks");
  const std::int64_t shards = product({whole_of(words, "parallelism.tensor"), whole_of(words, "parallelism.pipeline")});
  const std::int64_t gpus = whole_of(words, "cluster.gpus");
  if (gpus % (shards * instances) != 0)
    refuse(words, "@instances", "a divisor of the " + std::to_string(gpus / shards) + " data and context ranks");
  say(words, "data_parallel.shard_group", std::to_string(gpus / shards / instances), "@instances");
}

void spell_megatron_core(Words& words, const Framework& framework) {
  spell_precision(words, framework);
  spell_gradients(words, framework);
  spell_pipeline(words, framework);
  spell_data_parallel(words);
  spell_memory(words, framework);
  spell_loss(words, framework);
  spell_model(words, framework);
  refuse_rare_optimizers(words);
  const std::string optimizer = take(words, "training.optimizer");
  if (optimizer == "none") say(words, "training.optimizer", optimizer);
  say(words, "@optimizer", optimizer == "adam" ? "adam" : "sgd");
  if (optimizer == "sgd") say(words, "@momentum", "0.0");
  if (optimizer == "momentum") say(words, "@momentum", "0.9");
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  if (text_of(words, "software.tensor_overlap") == "all" && text_of(words, "parallelism.sequence") != "true")
    throw InputError("software.tensor_overlap", "found 'all', but " + name_in(framework, "software.tensor_overlap") +
                                                    " asks for " + name_in(framework, "parallelism.sequence") +
                                                    "; expected parallelism.sequence true, or none");
}

void read_megatron_core(Words& words, const Framework& framework) {
  read_precision(words, framework);
  read_pipeline(words, framework);
  read_data_parallel(words, framework);
  read_memory(words, framework);
  read_loss(words, framework);
  if (words.contains("model.layers") || words.contains("model.hidden"))
    read_model(words, framework);
  else
    std::erase_if(words, [](const auto& word) { return word.first.starts_with("model."); });
  if (text_of(words, "parallelism.context") == "1") take(words, "parallelism.context_method");
  if (text_of(words, "parallelism.tensor") == "1" && text_of(words, "parallelism.sequence") == "true")
    say(words, "parallelism.sequence", "false",
        "assumed: " + name_in(framework, "parallelism.sequence") + " is ignored on one tensor rank");
  const bool sgd = text_of(words, "@optimizer") == "sgd";
  const bool momentum = !words.contains("@momentum") || std::strtod(text_of(words, "@momentum").c_str(), nullptr) > 0;
  say(words, "training.optimizer", !sgd ? "adam" : momentum ? "momentum" : "sgd", "@optimizer");
  remark_on_attention(words);
}

std::vector<FlagRow> transformer_config_rows() {
  const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
  return {
      {.name = "model.tensor_model_parallel_size", .key = "parallelism.tensor", .usual = "1"},
      {.name = "model.pipeline_model_parallel_size", .key = "parallelism.pipeline", .usual = "1"},
      {.name = "model.virtual_pipeline_model_parallel_size",
       .key = "@virtual_stages",
       .remark = "pipeline.virtual_stages"},
      {.name = "model.microbatch_group_size_per_vp_stage", .key = "pipeline.micro_batch_group"},
      {.name = "model.context_parallel_size", .key = "parallelism.context", .usual = "1"},
      {.name = "model.cp_comm_type",
       .key = "parallelism.context_method",
       .usual = "ring",
       .spellings = {{"ring", "p2p"}, {"all-gather", "allgather"}, {"all-gather", "all_gather"}, {"ulysses", "a2a"}}},
      {.name = "model.expert_model_parallel_size", .key = "parallelism.expert", .usual = "1"},
      {.name = "model.expert_tensor_parallel_size", .key = "parallelism.expert_tensor"},
      {.name = "model.sequence_parallel", .key = "parallelism.sequence", .usual = "false", .spellings = yes_no},
      {.name = "model.account_for_embedding_in_pipeline_split",
       .key = "pipeline.embedding_as_layer",
       .spellings = yes_no},
      {.name = "model.account_for_loss_in_pipeline_split", .key = "pipeline.head_as_layer", .spellings = yes_no},
      {.name = "model.num_layers_in_first_pipeline_stage",
       .key = "@first_layers",
       .only_read = true,
       .remark = "parallelism.layers_per_stage"},
      {.name = "model.num_layers_in_last_pipeline_stage",
       .key = "@last_layers",
       .only_read = true,
       .remark = "parallelism.layers_per_stage"},
      {.name = "model.num_layers", .key = "model.layers"},
      {.name = "model.hidden_size", .key = "model.hidden"},
      {.name = "model.ffn_hidden_size", .key = "model.ffn"},
      {.name = "model.num_attention_heads", .key = "model.heads"},
      {.name = "model.num_query_groups", .key = "@kv_heads", .remark = "model.kv_heads"},
      {.name = "model.kv_channels", .key = "model.head_width"},
      {.name = "model.add_qkv_bias", .key = "model.qkv_bias", .usual = "false", .spellings = yes_no},
      {.name = "model.qk_layernorm", .key = "model.qk_norm", .usual = "false", .spellings = yes_no},
      {.name = "model.mtp_num_layers", .key = "model.mtp_layers"},
      {.name = "model.num_moe_experts", .key = "model.experts.count"},
      {.name = "model.moe_router_topk", .key = "model.experts.active"},
      {.name = "model.moe_ffn_hidden_size", .key = "model.experts.ffn"},
      {.name = "model.moe_shared_expert_intermediate_size", .key = "@shared_ffn", .remark = "model.experts.shared_ffn"},
      {.name = "model.moe_layer_freq", .key = "@expert_layers", .remark = "model.experts.dense_layers"},
      {.name = "model.moe_grouped_gemm", .key = "software.grouped_multiply", .spellings = yes_no},
      {.name = "model.moe_expert_capacity_factor", .key = "training.experts.capacity"},
      {.name = "model.moe_pad_expert_input_to_capacity",
       .key = "@padded",
       .spellings = yes_no,
       .remark = "training.experts.capacity"},
      {.name = "model.moe_token_dispatcher_type",
       .key = "@dispatcher",
       .spellings = {{"alltoall", "alltoall"}, {"alltoall", "flex"}, {"allgather", "allgather"}},
       .remark = "tokens travel to their experts' ranks"},
      {.name = "model.make_vocab_size_divisible_by", .key = "software.vocabulary_multiple", .usual = "128"},
  };
}

std::vector<RefusedName> transformer_config_refused() {
  return {
      {"model.moe_enable_deepep",
       "changes the answer; where tokens go to few nodes, give --set training.experts.node_limit=N", "false",
       "training.experts.node_limit"},
      {"model.moe_shared_expert_overlap", "changes the answer and has no key; expected false", "false"},
      {"model.enable_cuda_graph", "changes the answer; give --set software.cuda_graphs=layers", "false",
       "software.cuda_graphs"},
      {"model.external_cuda_graph", "changes the answer; give --set software.cuda_graphs=layers", "false",
       "software.cuda_graphs"},
      {"model.cuda_graph_impl", "changes the answer; give --set software.cuda_graphs=layers", "none",
       "software.cuda_graphs"},
      {"model.overlap_moe_expert_parallel_comm",
       "changes the answer; give --set pipeline.schedule=combined-1f1b where the pipeline has stages", "false",
       "pipeline.schedule"},
      {"model.moe_router_group_topk",
       "changes the answer; where a group is a node, give --set training.experts.node_limit=N", "",
       "training.experts.node_limit", "model.moe_router_num_groups"},
      {"model.window_size", "changes the answer and has no key: all of a sequence is attended to"},
      {"model.deterministic_mode", "changes the answer and has no key; expected false", "false"},
      {"model.cpu_offloading", "changes the answer; give --set offload.activations=host", "false",
       "offload.activations"},
      {"model.fp32_residual_connection", "changes the answer and has no key; expected false", "false"},
      {"model.apply_residual_connection_post_layernorm", "changes the answer and has no key; expected false", "false"},
      {"parallelism.order", "it has tensor, context, data, pipeline"},
      {"model.family", "it starts gpt, llama and moe"},
      {"pipeline.schedule", "it has 1f1b and interleaved-1f1b"},
  };
}

}  // namespace stepcast::language
