#include "language/frameworks/words.h"

#include <array>
#include <charconv>

#include "language/core/names_of.h"
#include "language/frameworks/text/shell_start.h"
#include "models/layers/model_blocks.h"
#include "models/layers/partition.h"
#include "schedules/pipeline/micro_batch_groups.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/planned.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using schedules::Scenario;

std::string number(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// Adds words of a scenario.
class Speaker {
 public:
  explicit Speaker(Words& words) : words_(words) {}
  void text(std::string_view key, std::string_view value, bool usual = false) {
    words_[std::string(key)] = {.text = std::string(value), .usual = usual};
  }
  void size(std::string_view key, std::int64_t value, bool usual = false) { text(key, std::to_string(value), usual); }
  void flag(std::string_view key, bool value, bool usual = false) { text(key, value ? "true" : "false", usual); }
  void size_unless(std::int64_t neutral, std::string_view key, std::int64_t value) {
    if (value != neutral) size(key, value);
  }

 private:
  Words& words_;
};

constexpr std::array<std::string_view, 6> kActivations{"gelu",  "relu",         "swiglu",
                                                       "geglu", "squared-relu", "clamped-swiglu"};
constexpr std::array<std::string_view, 5> kPositions{"learned", "rotary", "alibi", "none", "relative"};
constexpr std::array<std::string_view, 3> kParallelBlocks{"none", "one-norm", "two-norms"};
constexpr std::array<std::string_view, 4> kBiases{"false", "true", "attention", "feed-forward"};
constexpr std::array<std::string_view, 3> kQueryKeyNorms{"false", "true", "all-heads"};
constexpr std::array<std::string_view, 6> kOptimizers{"adam", "sgd", "momentum", "lion", "adafactor", "none"};
constexpr std::array<std::string_view, 4> kDimensionNames{"tensor", "context", "data", "pipeline"};

static_assert(one_for_each<schedules::Activation::clamped_swiglu>(kActivations.size()));
static_assert(one_for_each<schedules::Positions::relative>(kPositions.size()));
static_assert(one_for_each<schedules::ParallelBlock::two_norms>(kParallelBlocks.size()));
static_assert(one_for_each<schedules::Biases::feed_forward>(kBiases.size()));
static_assert(one_for_each<schedules::QueryKeyNorm::all_heads>(kQueryKeyNorms.size()));
static_assert(one_for_each<schedules::Optimizer::none>(kOptimizers.size()));
static_assert(one_for_each<schedules::Dimension::pipeline>(kDimensionNames.size()));

template <class Names, class Value>
std::string_view named(const Names& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

/// Those that few models have, where this one has them.
void say_rare_variations(const schedules::Model& m, Speaker& out) {
  const schedules::Variations& own = m.variations;
  if (own.post_norms) out.flag("model.post_norms", true);
  if (own.head_bias) out.flag("model.head_bias", true);
  if (own.norm_parameters) out.size("model.norm_parameters", *own.norm_parameters);
  out.size_unless(0, "model.window", own.window);
  if (own.window_in_chunks) out.flag("model.window_in_chunks", true);
  out.size_unless(0, "model.full_attention_every", own.full_attention_every);
}

/// The layers of a model that does not have attention in all of them.
void say_pattern(const schedules::Model& m, Speaker& out) {
  if (m.variations.pattern.empty()) return;
  out.text("model.pattern", schedules::text_of_pattern(m.variations.pattern));
  if (layers_with(m, schedules::Mixer::mamba) > 0) {
    out.size("model.mamba.heads", m.mamba.heads);
    out.size("model.mamba.head", m.mamba.head);
    out.size("model.mamba.state", m.mamba.state);
    out.size("model.mamba.groups", m.mamba.groups);
    out.size("model.mamba.convolution", m.mamba.convolution);
    out.size("model.mamba.chunk", m.mamba.chunk);
  }
  if (layers_with(m, schedules::Mixer::delta_net) == 0) return;
  out.size("model.delta_net.heads", m.delta_net.heads);
  out.size("model.delta_net.key_heads", m.delta_net.key_heads);
  out.size("model.delta_net.key", m.delta_net.key);
  out.size("model.delta_net.value", m.delta_net.value);
  out.size("model.delta_net.convolution", m.delta_net.convolution);
  out.size("model.delta_net.chunk", m.delta_net.chunk);
}

std::string list_text(const auto& items, auto text) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ", ") + std::string(text(item));
  return "[" + list + "]";
}

void say_adapters(const schedules::Lora& lora, Speaker& out) {
  out.size("training.lora.rank", lora.rank);
  out.text("training.lora.target_modules",
           list_text(schedules::names_of_targets(lora.targets), [](std::string_view each) { return each; }));
  if (lora.dropout > 0) out.text("training.lora.dropout", number(lora.dropout));
  if (lora.base != schedules::BaseWeights::as_trained)
    out.text("training.lora.base_weights", schedules::name(lora.base));
}

void say_model(const Scenario& s, Speaker& out) {
  const schedules::Model& m = s.model;
  if (!schedules::is_decoder(m.family)) return;
  using schedules::Family;
  out.text("model.family", m.family == Family::gpt ? "gpt" : m.family == Family::llama ? "llama" : "moe");
  const schedules::LayerStyle style = schedules::layer_style(m);
  out.size("model.layers", m.layers);
  out.size("model.hidden", m.hidden);
  out.size("model.heads", m.heads);
  out.size("model.ffn", m.ffn);
  out.size("model.vocab", m.vocab);
  out.flag("model.tied_head", schedules::tied_embeddings(m));
  const schedules::Biases biases = m.variations.biases.value_or(schedules::Biases::all);
  if (biases == schedules::Biases::attention || biases == schedules::Biases::feed_forward)
    out.text("model.biases", named(kBiases, biases));
  else
    out.flag("model.biases", style.attention_biases && s.software.biases);
  out.flag("model.dropout", style.dropout && s.software.dropout);
  out.text("model.activation", named(kActivations, style.activation));
  out.text("model.position_encoding", named(kPositions, style.positions));
  if (style.positions == schedules::Positions::learned)
    out.size("model.positions", m.positions == 0 ? s.training.sequence : m.positions);
  out.flag("model.qkv_bias", m.variations.qkv_bias);
  out.text("model.qk_norm", named(kQueryKeyNorms, m.variations.qk_norm));
  say_rare_variations(m, out);
  if (m.variations.parallel_block != schedules::ParallelBlock::none)
    out.text("model.parallel_block", named(kParallelBlocks, m.variations.parallel_block));
  if (m.variations.attention_gate) out.flag("model.attention_gate", true);
  say_pattern(m, out);
  if (m.variations.embedding_norm) out.flag("model.embedding_norm", true);
  if (!m.variations.final_norm) out.flag("model.final_norm", false);
  out.size_unless(0, "model.embedding_width", m.variations.embedding_width);
  out.size_unless(0, "model.mtp_layers", m.mtp_layers);
  if (m.latent.kv_rank > 0) {
    out.size("model.latent.kv_rank", m.latent.kv_rank);
    out.size("model.latent.query_rank", m.latent.query_rank);
    out.size("model.latent.head", m.latent.head);
    out.size("model.latent.rotary", m.latent.rotary);
    out.size("model.latent.value", m.latent.value);
  } else {
    out.size("model.kv_heads", m.kv_heads);
    out.size("model.head_width", schedules::head_width(m));
  }
  if (m.experts.count == 0) return;
  out.size("model.experts.count", m.experts.count);
  out.size("model.experts.active", m.experts.active);
  out.size("model.experts.ffn", m.experts.ffn);
  out.size("model.experts.shared_ffn", m.experts.shared_ffn);
  out.size("model.experts.dense_layers", m.experts.dense_layers);
  out.size_unless(1, "model.experts.every", m.experts.every);
  out.size_unless(0, "model.experts.latent", m.experts.latent);
  out.flag("software.grouped_multiply", s.software.grouped_multiply, true);
}

void say_training(const Scenario& s, Speaker& out) {
  const schedules::Training& t = s.training;
  out.size("training.global_batch", t.global_batch);
  out.size("training.micro_batch", t.micro_batch);
  if (schedules::has_tokens(s.model.family)) out.size("training.sequence", t.sequence);
  out.text("training.precision", schedules::name(t.precision));
  if (t.precision == schedules::Precision::fp8) out.text("training.scaling", schedules::name(t.scaling));
  if (t.eight_bit_parameters) out.flag("training.eight_bit_parameters", true);
  out.size_unless(0, "training.bf16_layers_at_start", t.bf16_layers_at_start);
  out.size_unless(0, "training.bf16_layers_at_end", t.bf16_layers_at_end);
  out.size_unless(0, "training.frozen_layers", t.frozen_layers);
  if (t.update_in_backward) out.flag("training.update_in_backward", true);
  out.size_unless(0, "training.document_length", t.document_length);
  if (schedules::trains_adapters(t)) say_adapters(t.lora, out);
  if (t.balance) out.text("training.balance", "speed");
  if (t.expert_load.capacity) out.text("training.experts.capacity", number(*t.expert_load.capacity));
  out.text("training.optimizer", named(kOptimizers, t.optimizer));
  out.text("training.attention", schedules::attention(s) == schedules::Attention::flash ? "flash" : "unfused",
           schedules::attention(s) == s.software.attention);
}

void say_parallelism(const Scenario& s, Speaker& out) {
  const schedules::Parallelism& p = s.parallelism;
  out.size("parallelism.tensor", p.tensor);
  out.size("parallelism.context", p.context);
  out.size("parallelism.pipeline", p.pipeline);
  out.size("parallelism.data", p.data);
  out.size("parallelism.expert", p.expert);
  out.size("parallelism.expert_tensor", p.expert_tensor);
  out.flag("parallelism.sequence", p.sequence && p.tensor > 1);
  if (p.context > 1)
    out.text("parallelism.context_method",
             named(std::array<std::string_view, 3>{"ring", "all-gather", "ulysses"}, p.context_method));
  if (p.tensor > 1 && p.tensor_method.value_or(schedules::TensorMethod::megatron) != schedules::TensorMethod::megatron)
    out.text("parallelism.tensor_method",
             *p.tensor_method == schedules::TensorMethod::partition_output ? "partition-output" : "reduce-output");
  if (const schedules::TensorGrid grid = schedules::grid(p); schedules::is_grid(grid))
    out.text("parallelism.tensor_grid",
             std::to_string(grid.rows) + "x" + std::to_string(grid.columns) + "x" + std::to_string(grid.depth));
  if (p.order != schedules::Parallelism{}.order)
    out.text("parallelism.order",
             list_text(p.order, [](schedules::Dimension each) { return named(kDimensionNames, each); }));
}

/// Chunks of the model that layers are shared out to.
std::uint32_t chunks(const Scenario& s) {
  const schedules::PipelineSchedule* schedule = schedules::find_pipeline(s.pipeline.schedule);
  const bool fixed = schedule != nullptr && schedule->virtual_stages > 0;
  return s.parallelism.pipeline * (fixed ? schedule->virtual_stages : s.pipeline.virtual_stages);
}

/// Which chunk holds which layers, in one way of those that say the same: nothing where all have as many, embedding or
/// head or both counted as one, or else a list. Where the scenario leaves it to stepcast, what that does.
void say_layers(const Scenario& s, Speaker& out) {
  const schedules::PipelinePlan& p = s.pipeline;
  const bool even = p.partition.value_or(s.software.partition) == schedules::Partition::layers;
  const bool said = !s.parallelism.layers_per_stage.empty() || p.embedding_as_layer || p.head_as_layer;
  if (!even && !said) return;
  const auto say_all = [&](const std::vector<std::uint32_t>& layers) {
    out.text("parallelism.layers_per_stage",
             list_text(layers, [](std::uint32_t each) { return std::to_string(each); }));
  };
  if (schedules::places_mtp_layers(s)) return say_all(s.parallelism.layers_per_stage);
  const std::uint32_t parts = chunks(s);
  const std::vector<std::uint32_t> layers = schedules::share_out(s, schedules::blocks(s), parts).layers;
  static constexpr std::array<std::array<bool, 2>, 4> kCounted{
      {{false, false}, {true, true}, {true, false}, {false, true}}};
  for (const auto& [embedding, head] : kCounted) {
    const auto counted = static_cast<std::uint32_t>(s.model.layers + embedding + head);
    if (counted % parts != 0 || (!embedding && !head && !even)) continue;
    std::vector<std::uint32_t> shares(parts, counted / parts);
    shares.front() -= embedding ? 1 : 0;
    shares.back() -= head ? 1 : 0;
    if (shares != layers) continue;
    if (embedding) out.flag("pipeline.embedding_as_layer", true);
    if (head) out.flag("pipeline.head_as_layer", true);
    return;
  }
  say_all(layers);
}

/// Whether the one stage of the scenario runs its passes as 1F1B has it: each backward behind its forward, and nothing
/// of it later.
bool runs_one_by_one(const Scenario& s) {
  const schedules::PipelineSchedule* schedule = schedules::find_pipeline(s.pipeline.schedule);
  if (schedule == nullptr || schedule->updates != schedules::Updates::after_flush) return false;
  const std::uint32_t micro_batches = schedules::micro_batches(s);
  const schedules::Shape shape = schedules::planned_shape(s, micro_batches);
  const schedules::PipelineSchedule& plain = *schedules::find_pipeline("1f1b");
  constexpr schedules::StageId kOnly{0};
  return schedule->supports(shape).empty() &&
         schedule->order(shape, kOnly) == plain.order(schedules::shape_of(plain, 1, micro_batches), kOnly);
}

/// Micro-batches in a group, where the scenario says it, or the schedule has groups of another size than its stages: a
/// framework takes as many as stages where it is not told.
void say_groups(const Scenario& s, Speaker& out) {
  const schedules::PipelinePlan& p = s.pipeline;
  const schedules::PipelineSchedule* schedule = schedules::find_pipeline(p.schedule);
  const bool grouped = schedule != nullptr && schedule->in_groups && p.virtual_stages > 1;
  const std::uint32_t micro_batches = schedules::micro_batches(s);
  if (p.micro_batch_group)
    out.size("pipeline.micro_batch_group", *p.micro_batch_group);
  else if (grouped && micro_batches >= s.parallelism.pipeline && micro_batches % s.parallelism.pipeline != 0)
    out.size("pipeline.micro_batch_group", schedules::group_size(schedules::planned_shape(s, micro_batches)), true);
}

void say_pipeline(const Scenario& s, Speaker& out) {
  const schedules::PipelinePlan& p = s.pipeline;
  if (s.parallelism.pipeline == 1) {
    out.text("pipeline.schedule", runs_one_by_one(s) ? "1f1b" : p.schedule);
    out.size("pipeline.virtual_stages", 1);
    return;
  }
  out.text("pipeline.schedule", p.schedule);
  out.size("pipeline.virtual_stages", p.virtual_stages);
  say_groups(s, out);
  if (p.partition)
    out.text("pipeline.partition", named(std::array<std::string_view, 5>{"layers", "transformer",
                                                                         "transformer|embedding", "parameters", "cost"},
                                         *p.partition));
  say_layers(s, out);
}

void say_data_parallel(const Scenario& s, Speaker& out) {
  const schedules::DataParallelPlan& d = s.data_parallel;
  out.size("data_parallel.zero", d.zero);
  if (d.shard_group) out.size("data_parallel.shard_group", *d.shard_group);
  // What says the same as the software would is no choice that a framework has to be told.
  const schedules::Software& own = s.software;
  const bool overlaps = !own.launch_blocking && own.data_overlap && (d.zero != 1 || own.zero_1_overlap);
  out.flag("data_parallel.overlap", schedules::data_overlap(s), schedules::data_overlap(s) == overlaps);
  if (d.sum_once) out.flag("data_parallel.sum_once", *d.sum_once);
  out.text("data_parallel.bucket", std::to_string(schedules::bucket(s).value) + " B",
           schedules::bucket(s) == own.bucket);
  out.text("data_parallel.gradient_precision", schedules::name(schedules::gradient_precision(s)),
           schedules::gradient_precision(s) == own.gradient_precision);
  if (d.mode != schedules::DataParallelMode::all_reduce)
    out.text(
        "data_parallel.mode",
        named(std::array<std::string_view, 3>{"all_reduce", "parameter_server", "sharded_parameter_server"}, d.mode));
  out.size_unless(1, "data_parallel.local_steps", d.local_steps);
  if (d.compression.ratio) out.text("data_parallel.compression.ratio", number(*d.compression.ratio));
  if (d.compression.top_k) out.text("data_parallel.compression.top_k", number(*d.compression.top_k));
}

void say_memory(const Scenario& s, Speaker& out) {
  const bool full = s.recompute == schedules::Recompute::full;
  if (full && s.recompute_group > 1) out.size("recompute.every", s.recompute_group);
  if (full && s.recompute_layers) out.size("recompute.full_layers", *s.recompute_layers);
  if (s.recompute == schedules::Recompute::selective && s.recomputed_modules) {
    std::vector<std::string_view> modules;
    for (const schedules::RecomputedModule& module : schedules::kRecomputedModules)
      if ((*s.recomputed_modules).*module.member) modules.push_back(module.name);
    out.text("recompute.modules", list_text(modules, [](std::string_view each) { return each; }));
  } else if (!full || (s.recompute_group == 1 && !s.recompute_layers)) {
    out.text("recompute", schedules::name(s.recompute));
  }
  const auto tier = [&](std::string_view key, schedules::Tier where) {
    if (where != schedules::Tier::gpu) out.text(key, schedules::name(where));
  };
  tier("offload.optimizer", s.offload.optimizer);
  tier("offload.parameters", s.offload.parameters);
  tier("offload.activations", s.offload.activations);
  if (s.offload.activation_layers) out.size("offload.activation_layers", *s.offload.activation_layers);
}

void say_software(const Scenario& s, Speaker& out) {
  const schedules::Software& w = s.software;
  out.text("software", w.name, true);
  const schedules::TensorOverlap none = schedules::TensorOverlap::none;
  out.text("software.tensor_overlap",
           named(std::array<std::string_view, 3>{"none", "backward", "all"},
                 s.parallelism.tensor == 1 ? none : w.tensor_overlap),
           true);
  out.flag("software.gather_inputs_again", w.gather_inputs_again, true);
  out.size("software.vocabulary_multiple", w.vocabulary_multiple, true);
  out.text("software.fused_cross_entropy",
           named(std::array<std::string_view, 3>{"false", "in_regions", "true"}, w.fused_cross_entropy), true);
  if (w.fused_linear_cross_entropy) out.flag("software.fused_linear_cross_entropy", true);
  if (w.adapter_all_to_all) out.flag("software.adapter_all_to_all", true);
  if (w.fp8_input_store) out.flag("software.fp8_input_store", true);
  if (s.parallelism.tensor > 1) out.flag("software.loss_parallel", w.loss_parallel, true);
  out.flag("software.fused_bias_gelu", w.fused_bias_gelu, true);
  out.flag("software.fused_softmax", w.fused_softmax, true);
  out.flag("software.fused_bias_dropout_add", w.fused_bias_dropout_add, true);
  out.flag("software.fused_gradient_accumulation", w.fused_gradient_accumulation, true);
  // Megatron's sends never overlap in plain 1F1B.
  out.text("software.pipeline_overlap", w.pipeline_overlap == schedules::PipelineOverlap::no ? "false" : "interleaved",
           true);
  if (schedules::shares_out_inputs(s)) out.flag("software.partition_activations", true);
  out.text("software.main_gradient_precision", schedules::name(w.main_gradient_precision), true);
}

}  // namespace

Words words_of(const Scenario& s) {
  Words words;
  Speaker out(words);
  out.size("cluster.gpus", s.cluster.gpus);
  say_model(s, out);
  say_training(s, out);
  say_parallelism(s, out);
  say_pipeline(s, out);
  say_data_parallel(s, out);
  say_memory(s, out);
  say_software(s, out);
  return words;
}

std::string text_of(const Words& words, std::string_view key) {
  const auto word = words.find(key);
  return word == words.end() ? "" : word->second.text;
}

std::int64_t whole_of(const Words& words, std::string_view key, std::int64_t least) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::string text = text_of(words, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) refuse(words, key, "a whole number");
  if (value < least || value > kMost)
    refuse(words, key, "a whole number from " + std::to_string(least) + " to " + std::to_string(kMost));
  return value;
}

std::int64_t product(std::initializer_list<std::int64_t> sizes) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  std::int64_t all = 1;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(all, size, &all) || all > kMost)
      throw InputError("", "found sizes that multiply to more than 10^15, expected those of a plan");
  return all;
}

std::string take(Words& words, std::string_view key) {
  const auto word = words.find(key);
  if (word == words.end()) return "";
  std::string text = std::move(word->second.text);
  words.erase(word);
  return text;
}

std::string list_of_names(std::string_view names) {
  std::string list;
  std::string word;
  const auto close = [&] {
    if (!word.empty()) list += (list.empty() ? "" : ", ") + word;
    word.clear();
  };
  for (const char c : names) {
    if (std::string_view(" ,[]'\"").find(c) == std::string_view::npos)
      word += c;
    else
      close();
  }
  close();
  return "[" + list + "]";
}

void say(Words& words, std::string_view key, std::string text, std::string_view source) {
  Word word{.text = std::move(text)};
  if (const auto from = words.find(source); !source.empty() && from != words.end()) {
    word.from = from->second.from;
    word.place = from->second.place;
    if (word.text == from->second.text) word.unset = from->second.unset;
  } else {
    word.from = source;
  }
  words[std::string(key)] = std::move(word);
}

void refuse(const Words& words, std::string_view key, const std::string& expected) {
  const auto word = words.find(key);
  if (word == words.end()) throw InputError(std::string(key), "missing, expected " + expected);
  const Word& found = word->second;
  const std::string name = found.from.empty() ? std::string(key) : found.from;
  throw InputError(found.place.file.empty() ? name : language::text(found.place) + ": " + name,
                   "found " + in_quotes(found.text) + ", expected " + expected + because_of(found.unset));
}

void refuse_rare_optimizers(const Words& words) {
  const std::string optimizer = text_of(words, "training.optimizer");
  if (optimizer == "lion" || optimizer == "adafactor")
    refuse(words, "training.optimizer", "adam, sgd, momentum or none");
}

void refuse_both(const Words& words, std::string_view one, std::string_view other) {
  const auto said = words.find(one), contradicting = words.find(other);
  if (said == words.end() || contradicting == words.end()) return;
  if (said->second.text == "false" || contradicting->second.text == "false") return;
  const Word& found = contradicting->second;
  throw InputError(found.place.file.empty() ? found.from : language::text(found.place) + ": " + found.from,
                   "found beside " + said->second.from +
                       (said->second.place.file.empty() ? "" : " at " + language::text(said->second.place)) +
                       ", expected one of the two");
}

}  // namespace stepcast::language
