#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "language/configs/files.h"
#include "language/configs/forced_names.h"
#include "language/configs/measured_kernels.h"
#include "language/configs/nccl_release.h"
#include "language/configs/network_shares.h"
#include "language/core/convert.h"
#include "language/core/library.h"
#include "language/core/merge.h"
#include "language/core/names_of.h"
#include "language/core/read_mapping.h"

namespace stepcast::language {
namespace {

using schedules::Attention;
using schedules::Precision;
using schedules::Software;

template <auto member>
void store_flag(Software& s, const Value& v) {
  s.*member = v.flag;
}
Names autocast_names() { return names_of<schedules::Autocast::yes>({"false", "unsharded", "true"}); }
Names pipeline_overlap_names() { return names_of<schedules::PipelineOverlap::yes>({"false", "interleaved", "true"}); }
Names fused_loss_names() { return names_of<schedules::FusedLoss::yes>({"false", "in_regions", "true"}); }
Names sum_once_names() { return names_of<schedules::SumOnce::yes>({"false", "in_pipelines", "true"}); }
Names graph_names() { return names_of<schedules::CudaGraphs::step>({"none", "layers", "step"}); }

/// The words of tensor_overlap, of which two mean the same as others.
struct OverlapWord {
  std::string_view word;
  schedules::TensorOverlap overlap;
};
constexpr std::array kOverlapWords{
    OverlapWord{"none", schedules::TensorOverlap::none}, OverlapWord{"backward", schedules::TensorOverlap::backward},
    OverlapWord{"all", schedules::TensorOverlap::all}, OverlapWord{"false", schedules::TensorOverlap::none},
    OverlapWord{"true", schedules::TensorOverlap::backward}};
Names captured_names() { return names_in(schedules::kCapturedModules); }
Names overlap_names() {
  Names names;
  for (const OverlapWord& each : kOverlapWords) names.push_back(each.word);
  return names;
}
void store_overlap(Software& s, const Value& v) { s.tensor_overlap = kOverlapWords[v.choice].overlap; }

template <auto member>
void store_time(Software& s, const Value& v) {
  s.*member = v.time;
}
template <auto member>
void store_transport_time(Software& s, const Value& v) {
  s.transport.*member = v.time;
}

template <auto protocol, auto member>
void store_protocol_time(Software& s, const Value& v) {
  (s.transport.*protocol).*member = v.time;
}
template <auto protocol>
void store_protocol_share(Software& s, const Value& v) {
  (s.transport.*protocol).share = v.number;
}

using S = Software;
constexpr double kMostWinograd = 9;  // of all algorithms: each value of a 3x3 kernel is multiplied 9 times directly
using collectives::Protocol;
using collectives::Transport;

Names norms_in_convolutions() { return names_of<schedules::NormInConvolutions::all>({"none", "statistics", "all"}); }
Names moment_precision_names() {
  return names_of<schedules::MomentPrecision::int8>({"fp32", "fp16", "bf16", "fp8", "int8"});
}

}  // namespace

Names attention_names() { return names_of<Attention::flash>({"unfused", "flash"}); }

Names partition_names() {
  return names_of<schedules::Partition::cost>({"layers", "transformer", "transformer|embedding", "parameters", "cost"});
}
Names reported_memory_names() { return names_of<schedules::ReportedMemory::first_stage>({"fullest", "first_stage"}); }
Names optimizer_names() {
  return names_of<schedules::Optimizer::none>({"adam", "sgd", "momentum", "lion", "adafactor", "none"});
}

const Table<Software>& software_table() {
  static const Table<Software> table(
      "Software", "software",
      {
          {{"name", text_type(), "", "what people call it"}, [](S& s, const Value& v) { s.name = v.text; }},
          {{"attention", choice(attention_names), "unfused", "the attention kernel"},
           [](S& s, const Value& v) { s.attention = static_cast<Attention>(v.choice); }},
          {{"fused_softmax", flag(), "true", "scale, mask and softmax in one kernel"}, store_flag<&S::fused_softmax>},
          {{"fp32_scores", flag(), "false",
            "unfused attention without fused_softmax: scores are cast to fp32 for their softmax and its result "
            "back, as Transformers' eager attention does"},
           store_flag<&S::fp32_scores>},
          {{"unaligned_heads_on_plain_cores", flag(), "false",
            "unfused attention on NVIDIA's GPUs multiplies heads whose width is no multiple of 16 bytes at fp32's "
            "rate: "
            "a cuBLAS that gives them to no matrix unit"},
           store_flag<&S::unaligned_heads_on_plain_cores>},
          {{"fused_bias_gelu", flag(), "true",
            "bias and GELU in one kernel; of a gated activation and its product what is kept"},
           store_flag<&S::fused_bias_gelu>},
          {{"fused_bias_dropout_add", flag(), "true", "bias, dropout and residual in one kernel"},
           store_flag<&S::fused_bias_dropout_add>},
          {{"composite_operators", flag(), "false",
            "RMSNorm, rotary positions and gated activations run as the kernels that eager PyTorch composes them of"},
           store_flag<&S::composite_operators>},
          {{"norm_in_convolutions", choice(norms_in_convolutions), "none",
            "batch norm's sums by the convolution before it, and its result by the one behind it"},
           [](S& s, const Value& v) { s.norm_in_convolutions = static_cast<schedules::NormInConvolutions>(v.choice); }},
          {{"fused_norm_relu", flag(), "true", "batch norm, ReLU and the residual's addition in one kernel"},
           store_flag<&S::fused_norm_relu>},
          {{"channels_last", flag(), "true",
            "convolutions on matrix units; false: tensors are turned before and after each multiply (NCHW)"},
           store_flag<&S::channels_last>},
          {{"winograd", number(1, kMostWinograd), "1",
            "3x3 convolutions of stride 1 without matrix units run so much faster by Winograd's algorithm"},
           [](S& s, const Value& v) { s.winograd = v.number; }},
          {{"fused_quantization", flag(), "false", "fp8, mxfp8: a norm casts its output itself"},
           store_flag<&S::fused_quantization>},
          {{"scan_rates.mamba_forward", flop_rate_type(), "0.6 TFLOP/s",
            "of one multiprocessor in mamba_ssm's kernels of chunks"},
           [](S& s, const Value& v) { s.mamba_rates.forward = v.flop_rate; }},
          {{"scan_rates.mamba_backward", flop_rate_type(), "0.18 TFLOP/s", "likewise backward"},
           [](S& s, const Value& v) { s.mamba_rates.backward = v.flop_rate; }},
          {{"scan_rates.delta_net_forward", flop_rate_type(), "0.6 TFLOP/s",
            "of one in flash-linear-attention's of gated DeltaNet"},
           [](S& s, const Value& v) { s.delta_net_rates.forward = v.flop_rate; }},
          {{"scan_rates.delta_net_backward", flop_rate_type(), "0.6 TFLOP/s", "likewise backward"},
           [](S& s, const Value& v) { s.delta_net_rates.backward = v.flop_rate; }},
          {{"scan_step", time_type(), "1 us",
            "gated DeltaNet: a chunk's step, which waits for the one before it; 8 heads take 1.8 us a chunk on a "
            "Blackwell GPU, from "
            "16,384 to 65,536 tokens (flashinfer-ai/flashinfer, pull request 3902), of which the states' kernel is "
            "taken for over a half"},
           store_time<&S::scan_step>},
          {{"grouped_multiply", flag(), "false", "a multiply of all experts of a rank in one kernel; else one each"},
           store_flag<&S::grouped_multiply>},
          {{"expert_counts_to_host", flag(), "false",
            "experts that drop no copies: the host waits for how many each of them gets, and then launches what sends "
            "them"},
           store_flag<&S::expert_counts_to_host>},
          {{"copies_by_node", flag(), "false",
            "dropless experts: a token goes once to each node that has experts of its, which forwards it inside "
            "(DeepEP, HybridEP); false: a copy for each expert"},
           store_flag<&S::copies_by_node>},
          {{"expert_loop", flag(), "false",
            "experts one after the other, the host waiting for each (Hugging Face's models before transformers 5)"},
           store_flag<&S::expert_loop>},
          {{"grouped_multiply_launch", time_type(), "0 ps", "what each expert adds to the time of grouped_multiply"},
           [](S& s, const Value& v) { s.grouped_multiply_launch = v.time; }},
          {{"vocabulary_multiple", whole(1, 1 << 20), "1",
            "the vocabulary is padded to a multiple of so many rows on each tensor rank"},
           [](S& s, const Value& v) { s.vocabulary_multiple = v.whole; }},
          {{"fused_gradient_accumulation", flag(), "false", "weight-gradient products add into the main gradient"},
           store_flag<&S::fused_gradient_accumulation>},
          {{"tensor_overlap", choice(overlap_names), "none",
            "tensor-parallel traffic: backward (or true) runs it under the weight-gradient products; all also runs "
            "what "
            "sequence parallelism gathers and scatters beside the products it feeds or follows, part by part; none (or "
            "false)"},
           store_overlap},
          {{"gather_inputs_again", flag(), "true",
            "sequence parallelism: backward gathers again what a multiply gathered forward; false: that was kept"},
           store_flag<&S::gather_inputs_again>},
          {{"autocast", choice(autocast_names), "false",
            "fp16, bf16: as torch.autocast: parameters, what goes past attention and feed-forward, norms and softmax "
            "are in fp32, and what multiplies read is cast for them; unsharded: only with ZeRO 0; false: all is in 16 "
            "bits"},
           [](S& s, const Value& v) { s.autocast = static_cast<schedules::Autocast>(v.choice); }},
          {{"fp32_adapters", flag(), "false",
            "adapters are in fp32 under autocast, as PEFT's are: their input is cast to that, goes through dropout, "
            "and "
            "is cast back for the multiply"},
           store_flag<&S::fp32_adapters>},
          {{"adapter_all_to_all", flag(), "false",
            "sequence parallelism: results of adapters beside attention's projection and the second feed-forward "
            "multiply are exchanged for those of a rank's own tokens (Megatron-Bridge's a2a_experimental); false: all "
            "are gathered"},
           store_flag<&S::adapter_all_to_all>},
          {{"batch_first", flag(), "false",
            "sequence parallelism: tensors are batch x sequence x hidden, so what tensor ranks gather of the sequence "
            "is copied behind its all_gather and before its reduce_scatter; false: sequence x batch x hidden"},
           store_flag<&S::batch_first>},
          {{"micro_pipeline", flag(), "false",
            "tensor_overlap: all as PyTorch's asynchronous tensor parallelism: a layer's traffic goes part by part "
            "beside the one multiply that it feeds or follows, and nothing runs under weight-gradient products"},
           store_flag<&S::micro_pipeline>},
          {{"data_overlap", flag(), "true", "data-parallel traffic under backward (ZeRO 3: and forward)"},
           store_flag<&S::data_overlap>},
          {{"zero_1_overlap", flag(), "true",
            "ZeRO 1: data-parallel traffic as data_overlap says; false: gradients are summed after the last backward"},
           store_flag<&S::zero_1_overlap>},
          {{"zero_1_all_reduce", flag(), "false",
            "ZeRO 1: every rank gets all summed gradients, by an all_reduce, though it updates its shard alone"},
           store_flag<&S::zero_1_all_reduce>},
          {{"zero_2_all_reduce", flag(), "false", "ZeRO 2: likewise, bucket by bucket"},
           store_flag<&S::zero_2_all_reduce>},
          {{"bucket_copies", whole(0, 8), "0",
            "ZeRO: gradients are copied into so many buckets on their way to being summed"},
           [](S& s, const Value& v) { s.bucket_copies = static_cast<int>(v.whole); }},
          {{"gradient_as_bucket_view", flag(), "true",
            "without ZeRO: gradients lie in the buckets that are summed; false: the buckets are a copy of them"},
           store_flag<&S::gradient_as_bucket_view>},
          {{"block_gradients", flag(), "false",
            "ZeRO 2 and 3: gradients of the block at work are there whole, beside those of the block before, as they "
            "are handed over to be summed"},
           store_flag<&S::block_gradients>},
          {{"copies_gathered", flag(), "false",
            "ZeRO 3: parameters are copied out of the buffer that they were gathered in"},
           store_flag<&S::copies_gathered>},
          {{"activation_overhead", number(0, 10), "0",
            "what activations take besides what backward needs, in shares of that"},
           [](S& s, const Value& v) { s.activation_overhead = v.number; }},
          {{"reported_memory", choice(reported_memory_names), "fullest",
            "of which GPU the framework writes down its memory, as measured.peak_memory has it: of the fullest, or of "
            "rank 0 in the first stage"},
           [](S& s, const Value& v) { s.reported_memory = static_cast<schedules::ReportedMemory>(v.choice); }},
          {{"fp32_loss", flag(), "false",
            "fused loss: logits are cast to fp32 before it, and their gradient back (Transformers)"},
           store_flag<&S::fp32_loss>},
          {{"fp32_softmax", flag(), "false", "fused loss: it keeps its softmax in fp32 in place of the logits"},
           store_flag<&S::fp32_softmax>},
          {{"fp32_logits", whole(1, 8), "1", "unfused loss: so many copies of the logits in fp32 at its peak"},
           [](S& s, const Value& v) { s.fp32_logits = static_cast<int>(v.whole); }},
          {{"tensor_delay", time_type(), "0 ps",
            "what a collective among tensor ranks on several nodes waits for besides, for each node but one"},
           store_time<&S::tensor_delay>},
          {{"send_delay", time_type(), "0 ps",
            "what a send from stage to stage over the network waits for besides, on send_delay_nodes nodes or more"},
           store_time<&S::send_delay>},
          {{"send_delay_nodes", whole(2, 1 << 20), "2", "how many nodes a cluster has at least whose sends wait"},
           [](S& s, const Value& v) { s.send_delay_nodes = static_cast<std::uint32_t>(v.whole); }},
          {{"send_delay_tensor_nodes", whole(2, 1 << 20), "none",
            "on how many nodes tensor ranks are at least whose stages' sends wait, however many nodes the cluster has; "
            "left out: those of send_delay_nodes alone wait"},
           [](S& s, const Value& v) { s.send_delay_tensor_nodes = static_cast<std::uint32_t>(v.whole); }},
          {{"activation_hold", time_type(), "0 ps",
            "both stages do nothing else for so long while one hands the other an activation, on one node too: hosts "
            "that ask from time to time whether its shape has come"},
           store_time<&S::activation_hold>},
          {{"gradient_hold", time_type(), "0 ps", "the same of an activation's gradient"},
           store_time<&S::gradient_hold>},
          {{"autograd_gradients", flag(), "false",
            "what a backward pass makes is kept, in the training precision, beside the main gradients that it is added "
            "to after the pass"},
           store_flag<&S::autograd_gradients>},
          {{"sum_once", choice(sum_once_names), "false",
            "ZeRO 2 and 3: gradients are kept whole and summed once a step; in_pipelines: where there are stages"},
           [](S& s, const Value& v) { s.sum_once = static_cast<schedules::SumOnce>(v.choice); }},
          {{"loss_parallel", flag(), "true",
            "the loss reads the logits as the tensor ranks computed them, each its part of the vocabulary; false: they "
            "gather them first, and each computes the whole loss"},
           store_flag<&S::loss_parallel>},
          {{"fused_cross_entropy", choice(fused_loss_names), "false",
            "the loss: in one kernel each way; in_regions, compiled in parts between which tensor ranks tell each "
            "other maxima and sums, as Megatron's native fusion: each reads and writes the logits in fp32"},
           [](S& s, const Value& v) { s.fused_cross_entropy = static_cast<schedules::FusedLoss>(v.choice); }},
          {{"fused_linear_cross_entropy", flag(), "false",
            "logits, loss and their gradients together in forward, part by part of the tokens, so that no logits are "
            "kept (Liger-Kernel)"},
           store_flag<&S::fused_linear_cross_entropy>},
          {{"fp8_input_store", flag(), "false",
            "SwiGLU and GEGLU keep their inputs for backward in 8 bits (Megatron-Core's "
            "activation_func_fp8_input_store)"},
           store_flag<&S::fp8_input_store>},
          {{"biases", flag(), "true", "gpt: linear layers have biases"}, store_flag<&S::biases>},
          {{"dropout", flag(), "true", "gpt: after attention, feed-forward and embedding, and on the scores"},
           store_flag<&S::dropout>},
          {{"logit_metrics", whole(0, 8), "0", "cross entropies taken of the logits beside the loss"},
           [](S& s, const Value& v) { s.logit_metrics = static_cast<int>(v.whole); }},
          {{"flash_2", flag(), "false", "fused attention is of FlashAttention-2's generation or older"},
           store_flag<&S::flash_2>},
          {{"cudnn_attention_from", whole(0, 1000), "none",
            "GPUs of this compute capability and later (100: Blackwell) run cuDNN's fused attention, whatever flash_2 "
            "and attention_by say"},
           [](S& s, const Value& v) { s.cudnn_attention_from = static_cast<std::uint32_t>(v.whole); }},
          {{"eight_bit_attention", flag(), "false", "fp8, mxfp8: fused attention multiplies in 8 bits too"},
           store_flag<&S::eight_bit_attention>},
          {{"recompute_fused_attention", flag(), "false",
            "recompute: selective repeats fused attention; else leaves it alone"},
           store_flag<&S::recompute_fused_attention>},
          {{"attention_efficiency", fraction(), "1",
            "share of the GPU's fused-attention rate that this kernel reaches"},
           [](S& s, const Value& v) { s.attention_efficiency = v.number; }},
          {{"attention_by", choice(kernel_maker_names), "unsaid",
            "whose fused attention it runs: a profile's rates of that maker's kernel are its own"},
           [](S& s, const Value& v) { s.attention_by = static_cast<schedules::KernelMaker>(v.choice); }},
          {{"elementwise_by", choice(kernel_maker_names), "unsaid",
            "likewise its elementwise kernels, and what the host needs to launch them"},
           [](S& s, const Value& v) { s.elementwise_by = static_cast<schedules::KernelMaker>(v.choice); }},
          {{"repeated_keys_values", flag(), "false",
            "keys and values are copied for every query head before fused attention"},
           store_flag<&S::repeated_keys_values>},
          {{"copied_keys_values", flag(), "false",
            "as many heads of keys as of queries: attention keeps copies of keys and values beside the projection's "
            "whole output"},
           store_flag<&S::copied_keys_values>},
          {{"context_in_steps", flag(), "false",
            "context ranks, ring and all-gather: a kernel for each rank's keys, joined in fp32, as PyTorch's "
            "context_parallel"},
           store_flag<&S::context_in_steps>},
          {{"pipeline_overlap", choice(pipeline_overlap_names), "false",
            "stage-to-stage sends run beside compute; interleaved: but for plain 1f1b, whose sends Megatron waits for"},
           [](S& s, const Value& v) { s.pipeline_overlap = static_cast<schedules::PipelineOverlap>(v.choice); }},
          {{"scatter_gather", flag(), "false", "stage-to-stage sends are split over the tensor ranks"},
           store_flag<&S::scatter_gather>},
          {{"partition", choice(partition_names), "layers",
            "of the model among pipeline stages: layers, as many each, or where they do not divide with embedding and "
            "head as one each; transformer, transformer|embedding and parameters as DeepSpeed balances them; cost, "
            "by the multiplies of layers and head, as nanotron"},
           [](S& s, const Value& v) { s.partition = static_cast<schedules::Partition>(v.choice); }},
          {{"bucket", positive_bytes(), "25 MiB", "gradient bucket"}, [](S& s, const Value& v) { s.bucket = v.bytes; }},
          {{"gradient_precision", choice(precision_names, precisions_later), "fp32", "of gradients on the wire"},
           [](S& s, const Value& v) { s.gradient_precision = static_cast<Precision>(v.choice); }},
          {{"main_gradient_precision", choice(precision_names, precisions_later), "fp32",
            "of gradients as accumulated"},
           [](S& s, const Value& v) { s.main_gradient_precision = static_cast<Precision>(v.choice); }},
          {{"moment_precision", choice(moment_precision_names), "fp32",
            "of the optimizer's moments as kept; int8: with a scale for each 256, as bitsandbytes keeps them"},
           [](S& s, const Value& v) { s.moment_precision = static_cast<schedules::MomentPrecision>(v.choice); }},
          {{"master_weights", flag(), "true", "training in 16 bits keeps an fp32 copy of the parameters"},
           store_flag<&S::master_weights>},
          {{"gradients_persist", flag(), "true",
            "from step to step; else a step with one micro-batch has none until backward makes them: zero_grad's "
            "set_to_none"},
           store_flag<&S::gradients_persist>},
          {{"optimizer_temporaries", number(0), "0",
            "memory that the update takes besides, bytes a parameter: lists of foreach operators, an fp32 copy of "
            "gradients"},
           [](S& s, const Value& v) { s.optimizer_temporaries = v.number; }},
          {{"optimizer_bytes_per_parameter", number(0), "0",
            "memory traffic of an optimizer step, bytes, with moments in fp32"},
           [](S& s, const Value& v) { s.optimizer_bytes_per_parameter = v.number; }},
          {{"optimizer", choice(optimizer_names), "adam",
            "whose traffic that is; training.optimizer's reads and writes 8 bytes more or less for each moment"},
           [](S& s, const Value& v) { s.optimizer = static_cast<schedules::Optimizer>(v.choice); }},
          {{"elementwise_efficiency", fraction(), "1",
            "share of the GPU's streaming rate that elementwise kernels reach"},
           [](S& s, const Value& v) { s.elementwise_efficiency = v.number; }},
          {{"dummy_weight_gradients", flag(), "false", "an empty gradient is kept for each shape of weight"},
           store_flag<&S::dummy_weight_gradients>},
          {{"recompute_stops_early", flag(), "false", "once backward has its inputs: non-reentrant checkpointing"},
           store_flag<&S::recompute_stops_early>},
          {{"partition_activations", flag(), "false",
            "recompute: full; tensor ranks share out a layer's input and gather it to run the layer again"},
           store_flag<&S::partition_activations>},
          {{"compute_share", fraction(), "1", "in a running step, of the rates that kernels reach when measured alone"},
           [](S& s, const Value& v) { s.compute_share = v.number; }},
          {{"gather_for_recompute", flag(), "false", "ZeRO 3: backward gathers parameters to recompute, then again"},
           store_flag<&S::gather_for_recompute>},
          {{"parameter_prefetch", positive_bytes(), "1 TiB",
            "ZeRO 3: at most so much is gathered ahead of its use; DeepSpeed's stage3_prefetch_bucket_size is no such "
            "limit"},
           [](S& s, const Value& v) { s.parameter_prefetch = v.bytes; }},
          {{"live_parameters", number(0), "those of two blocks",
            "ZeRO 3: no more gathered parameters than these beside the weight at work; DeepSpeed's "
            "stage3_max_live_parameters"},
           [](S& s, const Value& v) { s.live_parameters = v.number; }},
          {{"kernel_gap", time_type(), "0 ps", "GPU idle between two kernels of one stream"},
           store_time<&S::kernel_gap>},
          {{"host_per_kernel", time_type(), "0 ps", "host time to launch one kernel, with its operator's dispatch"},
           store_time<&S::host_per_kernel>},
          {{"host_per_linear", time_type(), "0 ps",
            "host time that each multiply of a linear layer takes besides, where a module in Python makes it"},
           store_time<&S::host_per_linear>},
          {{"host_per_expert", time_type(), "0 ps",
            "host time of each launch that a library makes for each of a rank's experts; 0: it makes one for all"},
           store_time<&S::host_per_expert>},
          {{"host_per_collective", time_type(), "host_per_kernel", "host time to launch one collective of a pass"},
           [](S& s, const Value& v) { s.host_per_collective = v.time; }},
          {{"host_per_expert_layer", time_type(), "0 ps",
            "host time for each layer of experts in each pass, besides its launches, on any CPUs; not where "
            "cuda_graph_modules has moe_router"},
           store_time<&S::host_per_expert_layer>},
          {{"host_per_gathered_layer", time_type(), "0 ps",
            "ZeRO 3: host time for each layer in each pass, of the hooks that fetch and release its modules' "
            "parameters; of experts in a loop (expert_loop) each takes three fifths of it"},
           store_time<&S::host_per_gathered_layer>},
          {{"host_per_checkpoint", time_type(), "0 ps", "host time for each checkpointed layer that backward repeats"},
           store_time<&S::host_per_checkpoint>},
          {{"host_per_peer", time_type(), "0 ps",
            "with stages on several nodes: host time that a collective among tensor ranks costs more for each other "
            "rank"},
           store_time<&S::host_per_peer>},
          {{"host_per_pass", time_type(), "0 ps", "host time for each forward or backward of a micro-batch on a stage"},
           store_time<&S::host_per_pass>},
          {{"host_per_step", time_type(), "0 ps", "host time in a step while the GPU waits, at the update"},
           store_time<&S::host_per_step>},
          {{"launch_blocking", flag(), "false", "CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel"},
           store_flag<&S::launch_blocking>},
          {{"pipeline_sync", flag(), "false",
            "the host waits for the GPU after each send between stages; sends beside compute need no such wait"},
           store_flag<&S::pipeline_sync>},
          {{"compiled", flag(), "false",
            "torch.compile: elementwise kernels that follow each other are one launch; fused_* say which memory "
            "traffic "
            "that saves"},
           store_flag<&S::compiled>},
          {{"cuda_graphs", choice(graph_names), "none",
            "what is captured, and launched as one kernel is: layers (each pass of each layer), step (all passes)"},
           [](S& s, const Value& v) { s.cuda_graphs = static_cast<schedules::CudaGraphs>(v.choice); }},
          {{"cuda_graph_modules", list_type("[attn, moe_router]", captured_names), "none",
            "what of each layer is captured, neighbours in one graph: attn; moe_router; moe_preprocess, the counts of "
            "experts' tokens; mlp, feed-forward blocks without experts; mamba"},
           [](S& s, const Value& v) {
             s.cuda_graph_modules = {};
             for (const Value& item : items(choice(captured_names), v))
               s.cuda_graph_modules.*schedules::kCapturedModules[item.choice].member = true;
           }},
          {{"overlap_slowdown", number(0), "0", "compute takes 1 + this while a collective runs beside it"},
           [](S& s, const Value& v) { s.overlap_slowdown = v.number; }},
          {{"memory_reserve", bytes_type(), "0 B", "context, library workspaces, fragmentation"},
           [](S& s, const Value& v) { s.memory_reserve = v.bytes; }},
          {{"transport.nccl_version", text_type(), "2.30.7",
            "the library's release: what it has, and what algorithm 'nccl' takes"},
           [](S& s, const Value& v) { s.transport.nccl_version = nccl_release(v); }},
          {{"transport.launch", time_type(), "0 ps", "once per collective"}, store_transport_time<&Transport::launch>},
          {{"transport.ramp", time_type(), "0 ps", "what all channels cost more than none; small sizes take fewer"},
           store_transport_time<&Transport::ramp>},
          {{"transport.buffer", bytes_type(), "0 B",
            "NCCL_BUFFSIZE: of what each connection keeps on the GPU, Simple's buffer; 0: communicators' is not "
            "counted"},
           [](S& s, const Value& v) { s.transport.buffer = v.bytes; }},
          {{"transport.channels", whole(1, 64), "16", "blocks that copy and reduce"},
           [](S& s, const Value& v) { s.transport.channels = static_cast<std::uint32_t>(v.whole); }},
          {{"transport.issue", time_type(), "0 ps", "host time to launch one GPU's part of a collective"},
           store_transport_time<&Transport::issue>},
          {{"transport.ll128.launch", time_type(), "0 ps", "LL128: once per collective"},
           store_protocol_time<&Transport::ll128, &Protocol::launch>},
          {{"transport.ll128.ramp", time_type(), "0 ps", "LL128: what all channels cost more than none"},
           store_protocol_time<&Transport::ll128, &Protocol::ramp>},
          {{"transport.ll128.nvlink_step", time_type(), "0 ps", "LL128: per transfer over NVLink"},
           store_protocol_time<&Transport::ll128, &Protocol::nvlink_step>},
          {{"transport.ll128.pcie_step", time_type(), "0 ps", "LL128: per transfer over PCIe"},
           store_protocol_time<&Transport::ll128, &Protocol::pcie_step>},
          {{"transport.ll128.host_step", time_type(), "0 ps", "LL128: per transfer through host memory"},
           store_protocol_time<&Transport::ll128, &Protocol::host_step>},
          {{"transport.ll128.network_step", time_type(), "0 ps", "LL128: per transfer over the network"},
           store_protocol_time<&Transport::ll128, &Protocol::network_step>},
          {{"transport.ll128.share", fraction(), "none", "LL128: share of Simple's rates; left out: no LL128"},
           store_protocol_share<&Transport::ll128>},
          {{"transport.ll.launch", time_type(), "0 ps", "LL: once per collective"},
           store_protocol_time<&Transport::ll, &Protocol::launch>},
          {{"transport.ll.ramp", time_type(), "0 ps", "LL: what all channels cost more than none"},
           store_protocol_time<&Transport::ll, &Protocol::ramp>},
          {{"transport.ll.nvlink_step", time_type(), "0 ps", "LL: per transfer over NVLink"},
           store_protocol_time<&Transport::ll, &Protocol::nvlink_step>},
          {{"transport.ll.pcie_step", time_type(), "0 ps", "LL: per transfer over PCIe"},
           store_protocol_time<&Transport::ll, &Protocol::pcie_step>},
          {{"transport.ll.host_step", time_type(), "0 ps", "LL: per transfer through host memory"},
           store_protocol_time<&Transport::ll, &Protocol::host_step>},
          {{"transport.ll.network_step", time_type(), "0 ps", "LL: per transfer over the network"},
           store_protocol_time<&Transport::ll, &Protocol::network_step>},
          {{"transport.ll.share", fraction(), "none", "LL: share of Simple's rates; left out: no LL"},
           store_protocol_share<&Transport::ll>},
          {{"transport.ll.network_share", fraction(), "1", "LL: what a network gets of that share"},
           [](S& s, const Value& v) { s.transport.ll.network_share = v.number; }},
          {{"transport.nvls.launch", time_type(), "0 ps", "reduction in NVSwitches: once per collective"},
           store_protocol_time<&Transport::nvls, &Protocol::launch>},
          {{"transport.nvls.ramp", time_type(), "0 ps",
            "reduction in NVSwitches: what all channels cost more than none"},
           store_protocol_time<&Transport::nvls, &Protocol::ramp>},
          {{"transport.nvls.nvlink_step", time_type(), "0 ps", "reduction in NVSwitches: per transfer over NVLink"},
           store_protocol_time<&Transport::nvls, &Protocol::nvlink_step>},
          {{"transport.nvls.network_step", time_type(), "0 ps",
            "reduction in NVSwitches: per transfer between nodes (nvls-tree)"},
           store_protocol_time<&Transport::nvls, &Protocol::network_step>},
          {{"transport.nvls.share", fraction(), "none",
            "reduction in NVSwitches: share of NVLink; left out: not by itself"},
           store_protocol_share<&Transport::nvls>},
          {{"transport.p2p.launch", time_type(), "0 ps", "messages (send_recv, all_to_all): once per operation"},
           store_protocol_time<&Transport::p2p, &Protocol::launch>},
          {{"transport.p2p.ramp", time_type(), "0 ps", "messages: what all channels cost more than none"},
           store_protocol_time<&Transport::p2p, &Protocol::ramp>},
          {{"transport.p2p.message", time_type(), "0 ps",
            "messages: each that a rank sends or takes in beyond the first"},
           store_protocol_time<&Transport::p2p, &Protocol::message>},
          {{"transport.p2p.nvlink_step", time_type(), "0 ps", "messages beyond 16 KiB: per transfer over NVLink"},
           store_protocol_time<&Transport::p2p, &Protocol::nvlink_step>},
          {{"transport.p2p.pcie_step", time_type(), "0 ps", "messages beyond 16 KiB: per transfer over PCIe"},
           store_protocol_time<&Transport::p2p, &Protocol::pcie_step>},
          {{"transport.p2p.host_step", time_type(), "0 ps", "messages beyond 16 KiB: per transfer through host memory"},
           store_protocol_time<&Transport::p2p, &Protocol::host_step>},
          {{"transport.p2p.network_step", time_type(), "0 ps", "messages beyond 16 KiB: per transfer over the network"},
           store_protocol_time<&Transport::p2p, &Protocol::network_step>},
          {{"transport.p2p.share", fraction(), "none",
            "messages: share of Simple's rates; left out: messages are as collectives"},
           store_protocol_share<&Transport::p2p>},
          {{"transport.nvlink_step", time_type(), "0 ps", "per transfer between two GPUs over NVLink"},
           store_transport_time<&Transport::nvlink_step>},
          {{"transport.pcie_step", time_type(), "0 ps", "per transfer over PCIe"},
           store_transport_time<&Transport::pcie_step>},
          {{"transport.host_step", time_type(), "0 ps", "per transfer through host memory"},
           store_transport_time<&Transport::host_step>},
          {{"transport.network_step", time_type(), "0 ps", "per transfer over the network"},
           store_transport_time<&Transport::network_step>},
          {{"transport.most_channels", whole(1, 1 << 20), "no limit",
            "rings side by side; each leaves a node by one NIC"},
           [](S& s, const Value& v) { s.transport.most_channels = static_cast<std::uint32_t>(v.whole); }},
          {{"transport.own_copy", number(0, 1), "0",
            "a rank's own part, which all_gather and all_to_all copy and reduce_scatter adds, in times of sending it"},
           [](S& s, const Value& v) { s.transport.own_copy = v.number; }},
          {{"transport.as_nccl_picks", flag(), "false",
            "collectives of a step run as NCCL's own model picks them, false: the fastest"},
           [](S& s, const Value& v) { s.transport.as_nccl_picks = v.flag; }},
          {{"transport.network_of_links", flag(), "false",
            "messages over the network also cost what the adapter's link says of NCCL (nccl), and reach its share"},
           [](S& s, const Value& v) { s.transport.network_of_links = v.flag; }},
          {{"transport.algorithm", text_type(), "the library's choice",
            "what collectives must use, as NCCL_ALGO: names with commas between them, or ^ and names that they must "
            "not"},
           [](S& s, const Value& v) {
             collectives::ForcedAlgorithms forced = forced_names(v, collectives::forced_algorithms);
             s.transport.forced.algorithms = std::move(forced.alone);
             s.transport.forced.without = std::move(forced.without);
           }},
          {{"transport.protocol", text_type(), "the library's choice", "likewise, as NCCL_PROTO: Simple, LL128, LL"},
           [](S& s, const Value& v) { s.transport.forced.protocols = forced_names(v, collectives::forced_protocols); }},
          {{"transport.max_channels", whole(1, 64), "channels", "no more blocks than these, as NCCL_MAX_NCHANNELS"},
           [](S& s, const Value& v) { s.transport.forced.most_channels = static_cast<std::uint32_t>(v.whole); }},
          {{"transport.chunk", positive_bytes(), "4 MiB", "pipelining grain of trees and chains, at most"},
           [](S& s, const Value& v) { s.transport.chunk = v.bytes; }},
          {{"transport.network_shares", list_type("[0.9 at 2, 0.4 at 16]"), "none",
            "what the network gives groups over so many nodes, of what it gives two of them alone: fitted to a site"},
           [](S& s, const Value& v) { s.transport.network_shares = network_shares(v); }},
          {{"transport.network_efficiency", fraction(), "1", "share of a NIC's payload rate that collectives reach"},
           [](S& s, const Value& v) { s.transport.network_efficiency = v.number; }},
          {{"transport.nvlink_efficiency", fraction(), "1", "likewise for NVLink"},
           [](S& s, const Value& v) { s.transport.nvlink_efficiency = v.number; }},
          {{"transport.host_bridge_efficiency", fraction(), "1",
            "share of its PCIe link's rate that an adapter behind a CPU, not a PCIe switch, reaches to GPUs"},
           [](S& s, const Value& v) { s.transport.host_bridge_efficiency = v.number; }},
          {{"transport.host_copy_efficiency", fraction(), "1",
            "share of a PCIe link's rate, each way, of a GPU that sends and receives at once through host memory"},
           [](S& s, const Value& v) { s.transport.host_copy_efficiency = v.number; }},
          {{"transport.host_staging_bandwidth", bandwidth_type(), "as much as its links",
            "what a GPU moves each way at most to or from an adapter through host memory, without GPUDirect RDMA"},
           [](S& s, const Value& v) { s.transport.host_staging_bandwidth = v.bandwidth; }},
          {{"transport.net_gdr_level", choice([] {
              return Names{"PXB", "PHB", "SYS"};
            }),
            "PXB",
            "how far a GPU and an adapter may be apart for GPUDirect RDMA, as NCCL_NET_GDR_LEVEL: no further than PCIe "
            "switches, than one CPU, or across CPUs; it counts where host_staging_bandwidth is said"},
           [](S& s, const Value& v) {
             s.transport.forced.net_gdr_level = static_cast<collectives::GdrLevel>(v.choice);
           }},
          {{"transport.tree_efficiency", fraction(), "1", "trees' share of the rate that rings reach"},
           [](S& s, const Value& v) { s.transport.tree_efficiency = v.number; }},
          {{"source", text_type(), "", "where the numbers are from"}, [](S& s, const Value& v) { s.source = v.text; }},
      });
  return table;
}

const Schema& software_schema() { return software_table().schema; }

bool is_transport_alone(const Node& software) {
  const auto of_transport = [](const Entry& entry) {
    return entry.key == "name" || entry.key == "transport" || entry.key == "source";
  };
  return software.find("transport") != nullptr && std::ranges::all_of(software.entries, of_transport);
}

namespace {

/// Of a stack that is NCCL's: what its flags leave of a link. A model without flags (alpha-beta) may have more.
void check_shares(const Transport& transport, const Node& software) {
  if (!transport.network_of_links) return;
  const auto check = [&](const char* key, double share, double most, const char* why) {
    if (share > most)
      fail(locate(software, key), std::string("software.") + key,
           "found '" + std::to_string(share).substr(0, 6) + "', expected at most " + why);
  };
  check("transport.ll.share", transport.ll.share, collectives::kMostOfLl, "0.5: half of each of its lines is flags");
  check("transport.ll128.share", transport.ll128.share, collectives::kMostOfLl128,
        "0.9375: 8 bytes of each of its lines of 128 are flags");
}

}  // namespace

Software read_software(const Node& given, const std::string& stack, Library& library) {
  const Node name = make_scalar(stack, given.place);
  const Node fitted = library.expand_block(name, software_schema(), "cluster.node.nccl");
  Node whole = make_mapping(given.place);
  if (const Node* transport = fitted.find("transport")) {
    whole.entries.push_back({"transport", transport->place, *transport});
  }
  merge(software_schema(), whole, given);
  Software software;
  read(software_table(), whole, "software", library, software);
  software.transport_stack = is_transport_alone(given) ? software.name : name.scalar;
  check_shares(software.transport, whole);
  return software;
}

}  // namespace stepcast::language
