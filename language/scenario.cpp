#include "language/scenario.h"

#include <algorithm>
#include <charconv>

#include "language/configs/cluster.h"
#include "language/configs/model.h"
#include "language/configs/profile.h"
#include "language/core/convert.h"
#include "language/core/names_of.h"
#include "language/core/nearest.h"
#include "language/core/read_mapping.h"
#include "models/layers/fusion.h"
#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/pipelines.h"
#include "sim/in_quotes.h"
#include "sim/units_text.h"
#include "topology/dimensions.h"

namespace stepcast::language {
namespace {

constexpr const char* kUsualSoftware = "megatron-core";
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::int64_t kMostLayers = 1'000'000;
constexpr std::int64_t kMostRanks = 10'000'000;
constexpr std::int64_t kMostTracedSteps = 1'000'000;
constexpr double kMostOfRun = 1e18;  // tokens or samples

/// What is written, plus what decides a default only once all is read.
struct ScenarioDraft {
  schedules::Scenario s;
  std::optional<std::uint32_t> data;
  std::optional<std::int64_t> sequence;
  std::optional<schedules::Optimizer> optimizer;
  std::optional<schedules::Precision> precision;
  Node software;
  std::string software_named;
  bool software_by_name = false;  ///< alone
  std::optional<Profile> profile;
  bool adapts_all = false;  ///< an adapter beside each linear layer of the model
};
using D = ScenarioDraft;

Names recompute_names() { return {schedules::kRecomputeNames.begin(), schedules::kRecomputeNames.end()}; }
Names module_names() { return names_in(schedules::kRecomputedModules); }
Names lora_target_names() {
  Names names = names_in(schedules::kLoraTargets);
  names.push_back("all-linear");
  return names;
}
Names base_weights_names() { return {schedules::kBaseWeightsNames.begin(), schedules::kBaseWeightsNames.end()}; }
Names mode_names() {
  return names_of<schedules::DataParallelMode::sharded_parameter_server>(
      {"all_reduce", "parameter_server", "sharded_parameter_server"});
}
Names consistency_names() { return {schedules::kConsistencyNames.begin(), schedules::kConsistencyNames.end()}; }
Names context_names() { return names_of<schedules::ContextMethod::ulysses>({"ring", "all-gather", "ulysses"}); }
Names tensor_names() {
  return names_of<schedules::TensorMethod::reduce_output>({"megatron", "partition-output", "reduce-output"});
}
Names dimension_names() { return names_of<schedules::Dimension::pipeline>({"tensor", "context", "data", "pipeline"}); }
Names fusion_names() { return names_of<schedules::Fusion::all>({"none", "all"}); }
Names tier_names() { return {schedules::kTierNames.begin(), schedules::kTierNames.end()}; }
Names scaling_names() { return {schedules::kScalingNames.begin(), schedules::kScalingNames.end()}; }
Names balance_names() { return {"equal", "speed"}; }
Names outcome_names() { return names_of<schedules::RunOutcome::failed>({"ran", "failed"}); }
Names memory_names() { return names_of<schedules::MemoryFigure::device>({"allocated", "reserved", "device"}); }
Names confidence_names() { return {"stated", "assumed"}; }

Names schedule_names() {
  Names names;
  for (const schedules::PipelineSchedule* schedule : schedules::pipelines()) names.push_back(schedule->name);
  names.push_back(schedules::kCustom);
  return names;
}

Names placement_names() { return names_of<schedules::Placement::opposite>({"looping", "v-shape", "opposite"}); }

decltype(schedules::Parallelism::order) order(const Value& list) {
  std::vector<schedules::Dimension> found;
  const auto known = [&](schedules::Dimension d) { return std::ranges::find(found, d) != found.end(); };
  for (const Value& item : items(choice(dimension_names), list)) {
    const auto dimension = static_cast<schedules::Dimension>(item.choice);
    if (known(dimension))
      fail(list.node->place, item.path, "found " + in_quotes(item.text) + " a second time, expected it once");
    found.push_back(dimension);
  }
  decltype(schedules::Parallelism::order) all{};
  for (std::size_t i = 0; i < schedules::kDimensions; ++i)
    if (!known(static_cast<schedules::Dimension>(i))) found.push_back(static_cast<schedules::Dimension>(i));
  std::ranges::copy(found, all.begin());
  return all;
}

std::uint32_t size(const Value& v) { return static_cast<std::uint32_t>(v.whole); }

/// "2x4" or "2x4x2".
schedules::TensorGrid tensor_grid(const Value& v) {
  const auto sizes = topology::read_sides(v.text);
  if (!sizes)
    fail(v.node->place, v.path,
         "found " + in_quotes(v.text) + ", expected rows x columns, as 2x4, or rows x columns x depth, as 2x4x2");
  return {(*sizes)[0], (*sizes)[1], sizes->size() > 2 ? (*sizes)[2] : 1};
}

/// "2.5 USD": a number, a blank, the name of a currency.
schedules::Money price(const Value& v) {
  constexpr std::size_t kLongestName = 8;
  const std::size_t blank = v.text.find(' ');
  if (blank != std::string::npos) {
    const std::string number_text = v.text.substr(0, blank), currency = v.text.substr(blank + 1);
    const bool named =
        !currency.empty() && currency.size() <= kLongestName &&
        std::ranges::all_of(currency, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    double amount = 0;
    const char* const end = number_text.data() + number_text.size();
    const auto [rest, error] = std::from_chars(number_text.data(), end, amount);
    if (named && error == std::errc{} && rest == end && amount > 0 && amount < 1e12) return {amount, currency};
  }
  fail(v.node->place, v.path,
       "found " + in_quotes(v.text) + ", expected a number above zero and a currency, such as '2.5 USD'");
}

void store_phase(D& d, const Value& v) {
  d.s.measured.phases[v.path.substr(std::string_view("measured.phases.").size())] = v.time;
}

const Table<ScenarioDraft>& scenario_table() {
  static const Table<ScenarioDraft> table(
      "Scenario", "",
      {
          {{"name", text_type(), "the file's", "label"}, [](D& d, const Value& v) { d.s.name = v.text; }},
          {{"source", text_type(), "", "where a measurement is from"},
           [](D& d, const Value& v) { d.s.source = v.text; }},
          {{"confidence", choice(confidence_names), "", "whether the source states all of it"},
           [](D& d, const Value& v) { d.s.confidence = v.text; }},
          {{"note", text_type(), "", "remark"}, [](D& d, const Value& v) { d.s.note = v.text; }},
          {{"cluster", block(cluster_schema), kRequired, "the machines"},
           [](D& d, const Value& v) { d.s.cluster = finish(read_block(cluster_table(), v), v); }},
          {{"model", block(model_schema), kRequired,
            "what is trained; a config.json of the Hugging Face Hub, or a folder with one, by its path "
            "(docs/hugging-face.md)"},
           [](D& d, const Value& v) { d.s.model = finish(read_block(model_table(), v), v); }},
          {{"training.global_batch", whole(1, kMostSamples), kRequired, "samples per step"},
           [](D& d, const Value& v) { d.s.training.global_batch = v.whole; }},
          {{"training.micro_batch", whole(1, kMostSamples), kRequired, "samples per pass and data-parallel rank"},
           [](D& d, const Value& v) { d.s.training.micro_batch = v.whole; }},
          {{"training.sequence", whole(1, kMostSamples), "required where samples have tokens",
            "tokens per sample; t5: the encoder's"},
           [](D& d, const Value& v) { d.sequence = v.whole; }},
          {{"training.decoder_sequence", whole(1, kMostSamples), "sequence", "t5: the decoder's tokens per sample"},
           [](D& d, const Value& v) { d.s.training.decoder_sequence = v.whole; }},
          {{"training.fusion", choice(fusion_names), "the software's",
            "elementwise kernels: each operation its own, or every chain in one"},
           [](D& d, const Value& v) { d.s.training.fusion = static_cast<schedules::Fusion>(v.choice); }},
          {{"training.balance", choice(balance_names), "equal", "shares of the batch, with GPUs of two kinds"},
           [](D& d, const Value& v) { d.s.training.balance = v.choice == 1; }},
          {{"training.predictions", whole(1, kMostSamples), "sequence",
            "bert: tokens per sample that go through the masked-word head"},
           [](D& d, const Value& v) { d.s.training.predictions = v.whole; }},
          {{"training.precision", choice(training_precision_names), "model.precision",
            "of weights and activations; fp8, mxfp8, nvfp4: of the layers' linear multiplies, all else bf16"},
           [](D& d, const Value& v) { d.precision = static_cast<schedules::Precision>(v.choice); }},
          {{"training.scaling", choice(scaling_names), "delayed",
            "fp8: a tensor has one scale, from steps before or from the tensor itself, which is read twice; rowwise: "
            "one for each row of what enters a multiply, as torchao's recipe of that name"},
           [](D& d, const Value& v) { d.s.training.scaling = static_cast<schedules::Scaling>(v.choice); }},
          {{"training.eight_bit_parameters", flag(), "false",
            "fp8, mxfp8: the model's own parameters have 8 bits, and are gathered so"},
           [](D& d, const Value& v) { d.s.training.eight_bit_parameters = v.flag; }},
          {{"training.bf16_layers_at_start", whole(0, kMostLayers), "0",
            "fp8, mxfp8, nvfp4: the first n layers keep their linear multiplies in bf16"},
           [](D& d, const Value& v) { d.s.training.bf16_layers_at_start = v.whole; }},
          {{"training.bf16_layers_at_end", whole(0, kMostLayers), "0", "likewise the last n layers"},
           [](D& d, const Value& v) { d.s.training.bf16_layers_at_end = v.whole; }},
          {{"training.optimizer", choice(optimizer_names), "the software's", "decides optimizer memory and traffic"},
           [](D& d, const Value& v) { d.optimizer = static_cast<schedules::Optimizer>(v.choice); }},
          {{"training.update_in_backward", flag(), "false",
            "a weight is updated, and its gradient let go of, as soon as backward has made that (torchtune's "
            "optimizer_in_bwd)"},
           [](D& d, const Value& v) { d.s.training.update_in_backward = v.flag; }},
          {{"training.attention", choice(attention_names), "the software's", "the attention kernel"},
           [](D& d, const Value& v) { d.s.training.attention = static_cast<schedules::Attention>(v.choice); }},
          {{"training.frozen_layers", whole(0, kMostLayers), "0", "not trained: the embedding and the first n layers"},
           [](D& d, const Value& v) { d.s.training.frozen_layers = v.whole; }},
          {{"training.lora.rank", whole(0, kMostRanks), "0: all is trained",
            "low-rank adapters (LoRA) beside linear layers, of so many columns, are trained and nothing else is"},
           [](D& d, const Value& v) { d.s.training.lora.rank = v.whole; }},
          {{"training.lora.target_modules", list_type("[linear_qkv, linear_proj]", lora_target_names),
            "linear_qkv, linear_proj, linear_fc1, linear_fc2",
            "linear layers that have an adapter; Megatron's linear_qkv and linear_fc1 have one for all of their "
            "columns, Hugging Face's q_proj, k_proj, v_proj, gate_proj and up_proj one each; all-linear: each of the "
            "model's, one each"},
           [](D& d, const Value& v) {
             if (v.node->items.empty())
               fail(v.node->place, v.path, "found an empty list, expected " + one_of("", lora_target_names()));
             schedules::LoraTargets& targets = d.s.training.lora.targets = {};
             for (const Value& item : items(choice(lora_target_names), v)) {
               bool& has = item.choice == schedules::kLoraTargets.size()
                               ? d.adapts_all
                               : targets.*schedules::kLoraTargets[item.choice].member;
               if (std::exchange(has, true))
                 fail(item.node->place, item.path, "found " + found(*item.node) + ", whose layer is named already");
             }
           }},
          {{"training.lora.dropout", number(0, 1), "0", "share of an adapter's inputs; above 0 it takes its time"},
           [](D& d, const Value& v) { d.s.training.lora.dropout = v.number; }},
          {{"training.lora.base_weights", choice(base_weights_names), "as-trained",
            "the layers' own weights: cast, as training.precision casts them, once; in 4 bits (QLoRA, bitsandbytes), "
            "unpacked for each multiply, scales of their blocks in fp32, or in 8 bits"},
           [](D& d, const Value& v) { d.s.training.lora.base = static_cast<schedules::BaseWeights>(v.choice); }},
          {{"training.document_length", whole(1, kMostSamples), "sequence",
            "tokens of the documents that are packed in a sample, each of which attends to itself alone; of unlike "
            "ones "
            "the sum of squares over the sum"},
           [](D& d, const Value& v) { d.s.training.document_length = v.whole; }},
          {{"training.experts.capacity", number(0.01, 100), "dropless",
            "each expert gets so many times its even share of tokens, padded or cut to it"},
           [](D& d, const Value& v) { d.s.training.expert_load.capacity = v.number; }},
          {{"training.experts.spread", number(0, 10), "0",
            "dropless: standard deviation of the experts' loads over their mean; the busiest rank sets the pace"},
           [](D& d, const Value& v) { d.s.training.expert_load.spread = v.number; }},
          {{"training.experts.seed", whole(0), "0", "of the draw of these loads"},
           [](D& d, const Value& v) { d.s.training.expert_load.seed = static_cast<std::uint64_t>(v.whole); }},
          {{"training.experts.node_limit", whole(1, kMostRanks), "none: a copy for each expert",
            "a token's experts lie on at most n nodes; one copy goes to each, which forwards it inside"},
           [](D& d, const Value& v) { d.s.training.expert_load.node_limit = size(v); }},
          {{"parallelism.tensor", whole(1, kMostRanks), "1", "ranks that share each layer"},
           [](D& d, const Value& v) { d.s.parallelism.tensor = size(v); }},
          {{"parallelism.tensor_method", choice(tensor_names), "megatron; networks: partition-output",
            "how they split linear layers: in pairs by columns and then rows, each by its outputs, or each by its "
            "inputs"},
           [](D& d, const Value& v) {
             d.s.parallelism.tensor_method = static_cast<schedules::TensorMethod>(v.choice);
           }},
          {{"parallelism.tensor_grid", text_type(), "1 x tensor",
            "rows x columns, as 2x4, or rows x columns x depth, as 2x4x2: each weight's inputs over rows, its outputs "
            "over columns, in the second of two multiplies the other way; depth shares samples and weights"},
           [](D& d, const Value& v) { d.s.parallelism.tensor_grid = tensor_grid(v); }},
          {{"parallelism.context", whole(1, kMostRanks), "1", "ranks that share each sequence"},
           [](D& d, const Value& v) { d.s.parallelism.context = size(v); }},
          {{"parallelism.context_method", choice(context_names), "ring",
            "how they see each other's keys and values: passed round, gathered, or exchanged for heads"},
           [](D& d, const Value& v) {
             d.s.parallelism.context_method = static_cast<schedules::ContextMethod>(v.choice);
           }},
          {{"parallelism.expert", whole(1, kMostRanks), "1",
            "ranks that share the experts, of a stage's tensor x context x data"},
           [](D& d, const Value& v) { d.s.parallelism.expert = size(v); }},
          {{"parallelism.expert_tensor", whole(1, kMostRanks), "1",
            "ranks that share each expert; with parallelism.expert, of a stage's tensor x context x data"},
           [](D& d, const Value& v) { d.s.parallelism.expert_tensor = size(v); }},
          {{"parallelism.pipeline", whole(1, kMostRanks), "1", "stages"},
           [](D& d, const Value& v) { d.s.parallelism.pipeline = size(v); }},
          {{"parallelism.data", whole(1, kMostRanks), "what remains", "copies of the model"},
           [](D& d, const Value& v) { d.data = size(v); }},
          {{"parallelism.sequence", flag(), "false", "Megatron's sequence parallelism over the tensor ranks"},
           [](D& d, const Value& v) { d.s.parallelism.sequence = v.flag; }},
          {{"parallelism.order", list_type("[tensor, data, pipeline]", dimension_names),
            "tensor, context, data, pipeline",
            "rank order, innermost first; what it leaves out follows in the order of the default"},
           [](D& d, const Value& v) { d.s.parallelism.order = order(v); }},
          {{"parallelism.layers_per_stage", list_type("[13, 12, 12, 11]"), "as many each",
            "of each virtual stage, in the order of the model; 0: the embedding or the head alone"},
           [](D& d, const Value& v) {
             for (const Value& item : items(whole(0, kMostRanks), v))
               d.s.parallelism.layers_per_stage.push_back(size(item));
           }},
          {{"pipeline.schedule", choice(schedule_names), "1f1b", "order of the passes"},
           [](D& d, const Value& v) { d.s.pipeline.schedule = v.text; }},
          {{"pipeline.virtual_stages", whole(1, kMostRanks), "1",
            "model chunks per GPU; zb-v, chimera and dualpipe have 2 of themselves"},
           [](D& d, const Value& v) { d.s.pipeline.virtual_stages = size(v); }},
          {{"pipeline.micro_batch_group", whole(1, kMostSamples),
            "parallelism.pipeline, or the next size whose last group is no smaller than that",
            "interleaved-1f1b: micro-batches that visit a virtual stage before the next one's turn"},
           [](D& d, const Value& v) { d.s.pipeline.micro_batch_group = size(v); }},
          {{"pipeline.orders", list_type("[F0 F1 B0 B1, F0 B0 F1 B1]"), "required of custom",
            "per stage its passes: F0 forward of micro-batch 0, B0 backward, W0 its weights' gradients, BW0 both where "
            "others are split, F0b virtual stage b, F1&B0 together"},
           [](D& d, const Value& v) {
             for (const Value& item : items(text_type(), v)) d.s.pipeline.orders.push_back(item.text);
           }},
          {{"pipeline.placement", choice(placement_names), "looping",
            "custom: virtual stages from the first stage on each time, down and up in turn, or of two copies in "
            "opposite "
            "directions"},
           [](D& d, const Value& v) { d.s.pipeline.placement = static_cast<schedules::Placement>(v.choice); }},
          {{"pipeline.most_in_flight", whole(1, kMostSamples), "",
            "refuse a schedule whose stages hold more micro-batches"},
           [](D& d, const Value& v) { d.s.pipeline.most_in_flight = size(v); }},
          {{"pipeline.partition", choice(partition_names), "the software's", "of the model among stages"},
           [](D& d, const Value& v) { d.s.pipeline.partition = static_cast<schedules::Partition>(v.choice); }},
          {{"pipeline.embedding_as_layer", flag(), "false",
            "the embedding counts as a layer where all stages get as many"},
           [](D& d, const Value& v) { d.s.pipeline.embedding_as_layer = v.flag; }},
          {{"pipeline.head_as_layer", flag(), "false", "the head, likewise"},
           [](D& d, const Value& v) { d.s.pipeline.head_as_layer = v.flag; }},
          {{"data_parallel.zero", whole(0, 3), "0",
            "sharded: 0 nothing, 1 optimizer state, 2 + gradients, 3 + parameters"},
           [](D& d, const Value& v) { d.s.data_parallel.zero = static_cast<int>(v.whole); }},
          {{"data_parallel.overlap", flag(), "the software's", "communication under backward (ZeRO 3: and forward)"},
           [](D& d, const Value& v) { d.s.data_parallel.overlap = v.flag; }},
          {{"data_parallel.sum_once", flag(), "the software's",
            "ZeRO 2 and 3: gradients are kept whole and summed once a step; false: after each micro-batch"},
           [](D& d, const Value& v) { d.s.data_parallel.sum_once = v.flag; }},
          {{"data_parallel.bucket", positive_bytes(), "the software's", "gradients sent at once"},
           [](D& d, const Value& v) { d.s.data_parallel.bucket = v.bytes; }},
          {{"data_parallel.shard_group", whole(1, kMostRanks), "all data ranks",
            "ZeRO inside groups of so many data ranks, an all-reduce across them (HSDP)"},
           [](D& d, const Value& v) { d.s.data_parallel.shard_group = size(v); }},
          {{"data_parallel.mode", choice(mode_names), "all_reduce",
            "how gradients are summed; a server is the first data rank, or sharded over all of them"},
           [](D& d, const Value& v) { d.s.data_parallel.mode = static_cast<schedules::DataParallelMode>(v.choice); }},
          {{"data_parallel.consistency", choice(consistency_names), "bulk_synchronous",
            "of servers: workers wait for all, for none, or where one is too far ahead of the slowest"},
           [](D& d, const Value& v) { d.s.data_parallel.consistency = static_cast<schedules::Consistency>(v.choice); }},
          {{"data_parallel.staleness", whole(0, kMostRanks), "required of bounded_staleness",
            "steps that a worker may be ahead of the slowest"},
           [](D& d, const Value& v) { d.s.data_parallel.staleness = size(v); }},
          {{"data_parallel.local_steps", whole(1, kMostLayers), "1",
            "steps that data ranks make by themselves before they average their parameters"},
           [](D& d, const Value& v) { d.s.data_parallel.local_steps = size(v); }},
          {{"data_parallel.compression.ratio", number(1, 1e6), "none",
            "of gradients on the wire: so many times fewer bytes, still summed on their way"},
           [](D& d, const Value& v) { d.s.data_parallel.compression.ratio = v.number; }},
          {{"data_parallel.compression.top_k", fraction(), "none",
            "the share of the gradients that is sent, each with an index of 4 bytes, and gathered"},
           [](D& d, const Value& v) { d.s.data_parallel.compression.top_k = v.number; }},
          {{"data_parallel.gradient_precision", choice(precision_names, precisions_later), "the software's",
            "of gradients on the wire"},
           [](D& d, const Value& v) {
             d.s.data_parallel.gradient_precision = static_cast<schedules::Precision>(v.choice);
           }},
          {{"recompute", choice(recompute_names), "none",
            "selective: attention core; full: each layer's input is kept; by-operator: that, fused attention's result, "
            "every second multiply's and what was scattered or exchanged (torchtitan)"},
           [](D& d, const Value& v) { d.s.recompute = static_cast<schedules::Recompute>(v.choice); }},
          {{"recompute.modules", list_type("[core_attn, mlp]", module_names), "core_attn",
            "selective, these alone: core_attn; mla_up_proj, latent attention's ups; mlp, feed-forward blocks without "
            "experts; moe_act, between the experts' multiplies; layernorm, norms before experts and latent attention; "
            "moe, layers' experts with their router and exchanges; shared_experts"},
           [](D& d, const Value& v) {
             if (v.node->items.empty())
               fail(v.node->place, v.path, "found an empty list, expected " + one_of("", module_names()));
             if (d.s.recompute == schedules::Recompute::none) d.s.recompute = schedules::Recompute::selective;
             schedules::RecomputedModules& modules = d.s.recomputed_modules.emplace();
             for (const Value& item : items(choice(module_names), v))
               modules.*schedules::kRecomputedModules[item.choice].member = true;
           }},
          {{"recompute.every", whole(1, kMostLayers), "1", "full: keep every k-th layer's input alone"},
           [](D& d, const Value& v) {
             d.s.recompute = schedules::Recompute::full;
             d.s.recompute_group = size(v);
           }},
          {{"recompute.full_layers", whole(1, kMostLayers), "all", "full: of each model chunk, the first n layers"},
           [](D& d, const Value& v) {
             d.s.recompute = schedules::Recompute::full;
             d.s.recompute_layers = size(v);
           }},
          {{"offload.optimizer", choice(tier_names), "gpu", "its state; off the GPU the node's CPUs update"},
           [](D& d, const Value& v) { d.s.offload.optimizer = static_cast<schedules::Tier>(v.choice); }},
          {{"offload.parameters", choice(tier_names), "gpu", "copied to the GPU block by block"},
           [](D& d, const Value& v) { d.s.offload.parameters = static_cast<schedules::Tier>(v.choice); }},
          {{"offload.activations", choice(tier_names), "gpu", "what forward keeps for backward"},
           [](D& d, const Value& v) { d.s.offload.activations = static_cast<schedules::Tier>(v.choice); }},
          {{"offload.activation_layers", whole(1, kMostLayers), "all",
            "activations of so many layers alone; their copies are spread over the passes of all"},
           [](D& d, const Value& v) { d.s.offload.activation_layers = size(v); }},
          {{"offload.overlap", flag(), "true", "copies run beside compute"},
           [](D& d, const Value& v) { d.s.offload.overlap = v.flag; }},
          {{"offload.nvme_bandwidth", bandwidth_type(), "required of nvme", "of a node's drives together"},
           [](D& d, const Value& v) { d.s.offload.nvme_bandwidth = v.bandwidth; }},
          {{"offload.nvme_size", positive_bytes(), "not known", "of a node's drives together: what there is room for"},
           [](D& d, const Value& v) { d.s.offload.nvme_size = v.bytes; }},
          {{"offload.adam_rate", number(1, 1e15), "4e9", "parameters a second that a node's CPUs update"},
           [](D& d, const Value& v) { d.s.offload.adam_rate = v.number; }},
          {{"imperfections.slow_gpu", whole(0, kMostRanks), "none", "index of a GPU that computes slowly"},
           [](D& d, const Value& v) { d.s.imperfections.slow_gpu = size(v); }},
          {{"imperfections.gpu_speed", fraction(), "1", "of the slow GPU, in shares of the others'"},
           [](D& d, const Value& v) { d.s.imperfections.gpu_speed = v.number; }},
          {{"imperfections.slow_node", whole(0, kMostRanks), "none",
            "index of a node with slow network cards, among those in use"},
           [](D& d, const Value& v) { d.s.imperfections.slow_node = size(v); }},
          {{"imperfections.network_speed", fraction(), "1", "of the slow node's cards, in shares of the others'"},
           [](D& d, const Value& v) { d.s.imperfections.network_speed = v.number; }},
          {{"imperfections.jitter", number(0, 10), "0", "standard deviation of a pass's time, in shares of its mean"},
           [](D& d, const Value& v) { d.s.imperfections.jitter = v.number; }},
          {{"imperfections.seed", whole(0, kMostSamples), "1", "of the jitter"},
           [](D& d, const Value& v) { d.s.imperfections.seed = static_cast<std::uint64_t>(v.whole); }},
          {{"input.bytes_per_sample", positive_bytes(), "", "read from storage"},
           [](D& d, const Value& v) { d.s.input.bytes_per_sample = v.bytes; }},
          {{"input.storage_bandwidth", bandwidth_type(), "", "of all data ranks together"},
           [](D& d, const Value& v) { d.s.input.storage_bandwidth = v.bandwidth; }},
          {{"input.preprocessing", positive_time(), "none", "of one sample on one core"},
           [](D& d, const Value& v) { d.s.input.preprocessing = v.time; }},
          {{"input.workers", whole(1, kMostRanks), "1", "cores of each data rank that preprocess"},
           [](D& d, const Value& v) { d.s.input.workers = size(v); }},
          {{"checkpoint.every", whole(1, kMostRanks), "never", "steps from one checkpoint to the next"},
           [](D& d, const Value& v) { d.s.checkpoint.every = size(v); }},
          {{"checkpoint.bandwidth", bandwidth_type(), "", "of the storage, all GPUs together"},
           [](D& d, const Value& v) { d.s.checkpoint.bandwidth = v.bandwidth; }},
          {{"checkpoint.write_time", positive_time(), "", "of one checkpoint, where that is known instead"},
           [](D& d, const Value& v) { d.s.checkpoint.write_time = v.time; }},
          {{"checkpoint.asynchronous", flag(), "false", "copied to host memory, then written while training goes on"},
           [](D& d, const Value& v) { d.s.checkpoint.asynchronous = v.flag; }},
          {{"checkpoint.snapshot_bandwidth", bandwidth_type(), "", "asynchronous: of one GPU to host memory"},
           [](D& d, const Value& v) { d.s.checkpoint.snapshot_bandwidth = v.bandwidth; }},
          {{"run.tokens", number(1, kMostOfRun), "", "of a whole run (stepcast plan): tokens to its target"},
           [](D& d, const Value& v) { d.s.run.tokens = v.number; }},
          {{"run.samples", number(1, kMostOfRun), "", "or samples"},
           [](D& d, const Value& v) { d.s.run.samples = v.number; }},
          {{"run.epochs", number(1e-6, kMostOfRun), "", "or times through all samples of the data set"},
           [](D& d, const Value& v) { d.s.run.epochs = v.number; }},
          {{"run.dataset_samples", number(1, kMostOfRun), "required of epochs", "samples of the data set"},
           [](D& d, const Value& v) { d.s.run.dataset_samples = v.number; }},
          {{"run.target_batch", whole(1, kMostSamples), "training.global_batch",
            "samples of a step with which the target is known to be enough"},
           [](D& d, const Value& v) { d.s.run.target_batch = v.whole; }},
          {{"run.gpu_hour_price", text_type(), "", "what a GPU costs an hour, as 2.5 USD"},
           [](D& d, const Value& v) { d.s.run.gpu_hour_price = price(v); }},
          {{"run.kilowatt_hour_price", text_type(), "", "what energy costs besides, as 0.1 USD"},
           [](D& d, const Value& v) { d.s.run.kilowatt_hour_price = price(v); }},
          {{"run.power.computing", power_type(), "", "of a GPU whose kernels run"},
           [](D& d, const Value& v) { d.s.run.power.computing = v.power; }},
          {{"run.power.waiting", power_type(), "", "of a GPU in the rest of a step, and during checkpoints"},
           [](D& d, const Value& v) { d.s.run.power.waiting = v.power; }},
          {{"run.power.idle", power_type(), "", "of a GPU while the job is being restarted"},
           [](D& d, const Value& v) { d.s.run.power.idle = v.power; }},
          {{"run.power.host", power_type(), "not counted", "of a node without its GPUs"},
           [](D& d, const Value& v) { d.s.run.power.host = v.power; }},
          {{"run.power.usage_effectiveness", number(1, 10), "not counted",
            "what the building draws over what its machines draw"},
           [](D& d, const Value& v) { d.s.run.power.usage_effectiveness = v.number; }},
          {{"run.failures.gpu_mtbf", duration_type(), "", "mean time between failures of one GPU"},
           [](D& d, const Value& v) { d.s.run.failures.gpu_mtbf = v.duration; }},
          {{"run.failures.node_mtbf", duration_type(), "", "of one node, by what is not its GPUs"},
           [](D& d, const Value& v) { d.s.run.failures.node_mtbf = v.duration; }},
          {{"run.failures.restart", duration_type(), "", "from a failure until steps are made again"},
           [](D& d, const Value& v) { d.s.run.failures.restart = v.duration; }},
          {{"run.critical_batch", whole(1, kMostSamples), "",
            "samples of a step with which a run takes twice the fewest steps and twice the fewest samples"},
           [](D& d, const Value& v) { d.s.run.critical_batch = v.whole; }},
          {{"run.batch_limit", whole(1, kMostSamples), "",
            "samples of a step up to which the target does not depend on the batch"},
           [](D& d, const Value& v) { d.s.run.batch_limit = v.whole; }},
          {{"software", block(software_schema), kUsualSoftware,
            "what the framework adds; without base: changes of the default"},
           [](D& d, const Value& v) {
             d.software = *v.node;
             d.software_named = v.text;
             d.software_by_name = v.by_name;
           }},
          {{"profile", block(profile_schema), "", "a calibration's output that replaces GPU and network constants"},
           [](D& d, const Value& v) { d.profile = read_block(profile_table(), v); }},
          {{"measured.step_time", positive_time(), "", "of a real run"},
           [](D& d, const Value& v) { d.s.measured.step_time = v.time; }},
          {{"measured.run_time", duration_type(), "", "of a real run as a whole"},
           [](D& d, const Value& v) { d.s.measured.run_time = v.duration; }},
          {{"measured.outcome", choice(outcome_names), "ran",
            "failed: the plan was tried and did not run, for whatever reason; it has no step time"},
           [](D& d, const Value& v) { d.s.measured.outcome = static_cast<schedules::RunOutcome>(v.choice); }},
          {{"measured.memory_is", choice(memory_names), "allocated",
            "which memory measured.peak_memory counts: what the framework's allocator had handed out "
            "(torch.cuda.max_memory_allocated), what it had taken for that (max_memory_reserved), or all that was in "
            "use on the device"},
           [](D& d, const Value& v) { d.s.measured.memory_is = static_cast<schedules::MemoryFigure>(v.choice); }},
          {{"measured.peak_memory", positive_bytes(), "", "of a real run, one GPU"},
           [](D& d, const Value& v) { d.s.measured.peak_memory = v.bytes; }},
          {{"measured.trace", text_type(), "",
            "a profiler's trace of a real run, a file beside this one, as 'stepcast diff' takes it (docs/diff.md); "
            "only "
            "'stepcast fit --runs' reads it"},
           [](D& d, const Value& v) { d.s.measured.trace = beside(v.node->place, v.text).string(); }},
          {{"measured.trace_steps", whole(1, kMostTracedSteps), "1",
            "how many steps a trace without marks of steps holds: their mean is taken"},
           [](D& d, const Value& v) { d.s.measured.trace_steps = static_cast<std::uint32_t>(v.whole); }},
          {{"measured.phases.layer_forward", positive_time(), "", "one layer, one micro-batch"}, store_phase},
          {{"measured.phases.layer_backward", positive_time(), "", "likewise, recompute included"}, store_phase},
          {{"measured.phases.exposed_data_communication", positive_time(), "", "of a step, not hidden"}, store_phase},
          {{"measured.phases.bubble", positive_time(), "", "of a step: waiting for other stages"}, store_phase},
      },
      {{"training.experts.capacity", "training.experts.spread"},
       {"data_parallel.compression.ratio", "data_parallel.compression.top_k"},
       {"checkpoint.bandwidth", "checkpoint.write_time"},
       {"run.tokens", "run.samples"},
       {"run.tokens", "run.epochs"},
       {"run.samples", "run.epochs"},
       {"run.critical_batch", "run.batch_limit"},
       {"parallelism.layers_per_stage", "pipeline.partition"},
       {"pipeline.partition", "pipeline.embedding_as_layer"},
       {"pipeline.partition", "pipeline.head_as_layer"},
       {"parallelism.layers_per_stage", "pipeline.embedding_as_layer"},
       {"parallelism.layers_per_stage", "pipeline.head_as_layer"}},
      {{"recompute.modules", "recompute", "selective"},
       {"recompute.every", "recompute", "full"},
       {"recompute.full_layers", "recompute", "full"},
       {"pipeline.orders", "pipeline.schedule", schedules::kCustom},
       {"pipeline.placement", "pipeline.schedule", schedules::kCustom},
       {"data_parallel.staleness", "data_parallel.consistency", "bounded_staleness"},
       {"checkpoint.snapshot_bandwidth", "checkpoint.asynchronous", "true"}});
  return table;
}

/// Tokens of a sample; of a network, whose samples have none, 1.
std::int64_t sequence(const ScenarioDraft& draft, const Node& tree) {
  constexpr const char* kKey = "training.sequence";
  if (!schedules::has_tokens(draft.s.model.family)) {
    if (draft.sequence) fail(locate(tree, kKey), kKey, "found a sequence, but samples of this model have no tokens");
    return 1;
  }
  if (!draft.sequence) fail(locate(tree, kKey), kKey, "missing, expected " + expected(whole(1, kMostSamples)));
  return *draft.sequence;
}

/// Of a model with a decoder; of others, which have none, 0.
std::int64_t decoder_sequence(const schedules::Scenario& s, const Node& tree) {
  constexpr const char* kKey = "training.decoder_sequence";
  const std::int64_t found = s.training.decoder_sequence;
  if (s.model.family == schedules::Family::t5) return found > 0 ? found : s.training.sequence;
  if (found > 0) fail(locate(tree, kKey), kKey, "found on a model without a decoder, expected family t5");
  return 0;
}

void check_predictions(const schedules::Scenario& s, const Node& tree) {
  constexpr const char* kKey = "training.predictions";
  if (s.training.predictions > 0 && s.model.family != schedules::Family::bert)
    fail(locate(tree, kKey), kKey, "found on a model that predicts every token, expected family bert");
}

/// A run that failed took no time.
void check_outcome(const schedules::Scenario& s, const Node& tree) {
  constexpr const char *kTime = "measured.step_time", *kTrace = "measured.trace", *kSteps = "measured.trace_steps";
  const bool failed = s.measured.outcome == schedules::RunOutcome::failed;
  if (failed && s.measured.step_time)
    fail(locate(tree, kTime), kTime, "found the time of a run that failed, expected measured.outcome ran");
  if (failed && !s.measured.trace.empty())
    fail(locate(tree, kTrace), kTrace, "found a trace of a run that failed, expected measured.outcome ran");
  if (s.measured.trace_steps > 1 && s.measured.trace.empty())
    fail(locate(tree, kSteps), kSteps, "found the steps of a trace, but no measured.trace");
}

/// No part of a step takes longer than the step.
void check_phases(const schedules::Measured& measured, const Node& tree) {
  if (!measured.step_time) return;
  for (const auto& [phase, time] : measured.phases)
    if (time > *measured.step_time) {
      const std::string key = "measured.phases." + phase;
      fail(locate(tree, key), key,
           "found " + text(time) + " of a step of " + text(*measured.step_time) + ", expected at most all of it");
    }
}

/// A slow GPU or node that is as fast as the others would change nothing, and so would the seed of no jitter.
void check_imperfections(const Node& tree) {
  const Node* said = tree.find("imperfections");
  if (said == nullptr) return;
  if (const Node* seed = said->find("seed"); seed != nullptr && said->find("jitter") == nullptr)
    fail(locate(tree, "imperfections.seed"), "imperfections.seed",
         "found " + found(*seed) + " without imperfections.jitter, whose draws it numbers; expected both or neither");
  for (const auto& [slow, speed] : {std::pair{"slow_gpu", "gpu_speed"}, {"slow_node", "network_speed"}}) {
    if (said->find(slow) == nullptr || said->find(speed) != nullptr) continue;
    fail(locate(tree, std::string("imperfections.") + slow), std::string("imperfections.") + speed,
         std::string("missing, with imperfections.") + slow + "; expected " + expected(fraction()) +
             ", such as 0.8 of the others' speed");
  }
}

/// What is said of adapters where there are none would change nothing.
void check_lora(const Node& tree) {
  const Node* training = tree.find("training");
  const Node* said = training != nullptr ? training->find("lora") : nullptr;
  if (said == nullptr || said->find("rank") != nullptr) return;
  const std::string key = "training.lora" + (said->entries.empty() ? "" : "." + said->entries.front().key);
  fail(locate(tree, key), "training.lora.rank",
       "missing, with " + key + "; expected " + expected(whole(0, kMostRanks)));
}

schedules::LoraTargets all_linear(const schedules::Model& model) {
  using schedules::Mixer;
  const bool scans = layers_with(model, Mixer::mamba) + layers_with(model, Mixer::delta_net) > 0;
  return {.queries = true,
          .keys = true,
          .values = true,
          .projection = true,
          .gate = is_gated(schedules::layer_style(model).activation),
          .up = true,
          .feed_forward_out = true,
          .mixer_in = scans,
          .mixer_out = scans};
}

/// Copies of the model where the scenario does not say: every GPU has a part.
std::uint32_t data_that_remains(const schedules::Scenario& s, const Node& tree) {
  const std::uint64_t tensor = s.parallelism.tensor, context = s.parallelism.context, pipeline = s.parallelism.pipeline,
                      gpus = s.cluster.gpus;
  const std::uint64_t part = tensor * context * pipeline;
  if (gpus % part == 0) return static_cast<std::uint32_t>(gpus / part);
  const char* key = tensor > 1 ? "parallelism.tensor" : context > 1 ? "parallelism.context" : "parallelism.pipeline";
  fail(locate(tree, key), key,
       "tensor " + std::to_string(tensor) + (context > 1 ? " x context " + std::to_string(context) : "") +
           " x pipeline " + std::to_string(pipeline) + " is " + std::to_string(part) +
           " GPUs, expected a divisor of the cluster's " + std::to_string(gpus));
}

}  // namespace

const Schema& scenario_schema() { return scenario_table().schema; }

schedules::Scenario read_scenario(const Node& tree, Library& library) {
  Node whole = tree;
  const auto said = std::ranges::find(whole.entries, "software", &Entry::key);
  if (said == whole.entries.end()) {
    whole.entries.push_back({"software", tree.place, make_scalar(kUsualSoftware, tree.place)});
  } else if (Node& over = said->value;
             over.kind == Node::Kind::mapping && over.find("base") == nullptr && over.find("include") == nullptr) {
    over.entries.push_back({"base", over.place, make_scalar(kUsualSoftware, over.place)});
  }
  ScenarioDraft draft;
  read(scenario_table(), whole, "", library, draft);
  schedules::Scenario& s = draft.s;
  const auto anew = [&] { return read_software(draft.software, s.cluster.nccl, library); };
  s.software = draft.software_by_name ? library.once<schedules::Software>(
                                            "software " + s.cluster.nccl + ' ' + draft.software.place.file, anew)
                                      : anew();
  if (s.software.name.empty()) s.software.name = draft.software_named;
  s.software.host_time = s.cluster.node.host_time;
  if (draft.profile) apply(*draft.profile, locate(tree, "profile"), library, s);
  s.training.sequence = sequence(draft, tree);
  s.training.precision = draft.precision.value_or(s.model.precision.value_or(s.training.precision));
  s.training.optimizer = draft.optimizer.value_or(s.software.optimizer);
  s.training.decoder_sequence = decoder_sequence(s, tree);
  check_predictions(s, tree);
  check_outcome(s, tree);
  check_phases(s.measured, tree);
  check_imperfections(tree);
  check_lora(tree);
  if (draft.adapts_all) s.training.lora.targets = all_linear(s.model);
  if (s.training.fusion) s.software = schedules::with_fusion(std::move(s.software), *s.training.fusion);
  s.parallelism.data = draft.data ? *draft.data : data_that_remains(s, tree);
  return s;
}

}  // namespace stepcast::language
