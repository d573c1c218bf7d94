#pragma once

#include <array>
#include <optional>
#include <string>

#include "collectives/transport.h"
#include "scenario/captured_modules.h"
#include "scenario/gpu.h"
#include "scenario/kernel_maker.h"
#include "scenario/optimizer.h"
#include "scenario/partition.h"
#include "sim/units.h"

namespace stepcast::schedules {

enum class Attention : std::uint8_t { unfused, flash };
enum class Fusion : std::uint8_t { none, all };

/// Tensor-parallel traffic beside the multiplies.
enum class TensorOverlap : std::uint8_t {
  none,
  backward,  ///< under the weight-gradient multiplies
  all        ///< and what sequence parallelism gathers before and scatters behind a multiply part by part beside it
};

/// Whether gradients that ZeRO 2 or 3 shards are kept whole until the last micro-batch and summed once a step.
enum class SumOnce : std::uint8_t { no, in_pipelines, yes };

/// Whether sends between stages run beside compute: in all schedules but plain 1F1B, or always.
enum class PipelineOverlap : std::uint8_t { no, interleaved, yes };

/// Whether the cross entropy is in one kernel each way, or compiled in regions between which tensor ranks tell each
/// other maxima and sums: each reads and writes all logits in fp32.
enum class FusedLoss : std::uint8_t { no, in_regions, yes };

/// Whether 16 bits are as torch.autocast has them (models/layers/autocast.h): where ranks share out parameters too, or
/// only where none do, since what gathers them has a precision of its own for them.
enum class Autocast : std::uint8_t { no, unsharded, yes };

/// What of a step is captured in CUDA graphs, each launched as one kernel is.
enum class CudaGraphs : std::uint8_t {
  none,
  layers,  ///< each pass of each layer
  step     ///< all passes of a step, their traffic and what the host does for them
};

/// Of which GPU a framework writes down how much memory it used: of the fullest one, or of rank 0, which is in the
/// first stage.
enum class ReportedMemory : std::uint8_t { fullest, first_stage };

/// What convolutions do of the batch norms next to them.
enum class NormInConvolutions : std::uint8_t {
  none,
  statistics,  ///< the one before sums up what it writes
  all          ///< and the one behind norms what it reads, where no addition comes between
};

/// FLOP/s of one multiprocessor in the kernels that scan a sequence chunk by chunk.
struct ScanRates {
  FlopRate forward, backward;
};

/// What a training framework adds to the mathematics, from configs/software/: which kernels are fused, which traffic
/// hides behind compute, what it costs per kernel, what it keeps in memory. One set per framework, for all models.
struct Software {
  std::string name;
  Attention attention = Attention::unfused;
  bool fused_softmax = true;  ///< scale, mask and softmax in one kernel
  bool fp32_scores = false;   ///< else: scores are cast to fp32 for their softmax, and its result back
  /// Unfused attention on NVIDIA's GPUs: heads that do not begin at multiples of 16 bytes are multiplied at fp32's
  /// rate.
  bool unaligned_heads_on_plain_cores = false;
  bool fused_bias_gelu = true;
  bool fused_bias_dropout_add = true;
  bool composite_operators = false;  ///< RMSNorm, rotary positions, gated activations: as eager PyTorch composes them
  FusedLoss fused_cross_entropy = FusedLoss::no;
  /// Logits, loss and their gradients are made together in forward, part by part of the tokens.
  bool fused_linear_cross_entropy = false;
  bool fp8_input_store = false;      ///< a gate and what it multiplies are kept for backward in 8 bits
  bool loss_parallel = true;         ///< each tensor rank's loss reads its part of the vocabulary; else they gather it
  bool fp32_loss = false;            ///< fused loss: logits are cast to fp32 before it, and their gradient back
  bool fp32_softmax = false;         ///< that kernel keeps its softmax in fp32 in place of the logits
  bool biases = true;                ///< gpt: linear layers have them
  bool dropout = true;               ///< gpt: after attention, feed-forward and embedding, and on the scores
  bool flash_2 = false;              ///< fused attention is of FlashAttention-2's generation or older
  bool eight_bit_attention = false;  ///< fp8, mxfp8: fused attention multiplies in 8 bits too
  double attention_efficiency = 1;   ///< share of the rate of the GPU's fused attention that this kernel reaches
  /// GPUs of this compute capability and later run cuDNN's fused attention, whatever else is said of it.
  std::optional<std::uint32_t> cudnn_attention_from{};
  KernelMaker attention_by = KernelMaker::unsaid;  ///< whose fused attention it runs: which measured rates are its own
  KernelMaker elementwise_by = KernelMaker::unsaid;  ///< likewise its elementwise kernels, and what launches them
  bool repeated_keys_values = false;  ///< keys and values are copied for every query head before fused attention
  /// As many heads of keys as of queries: fused attention gets copies of keys and values, and of queries a part of what
  /// the projection wrote, so that all of that is kept beside the copies. Memory alone.
  bool copied_keys_values = false;
  /// Context ranks, ring and all-gather: attention to each rank's keys and values is a kernel of its own, and kernels
  /// besides join the parts in fp32, as PyTorch's context_parallel does (docs/model.md).
  bool context_in_steps = false;
  int logit_metrics = 0;            ///< unfused cross entropies taken of the logits beside the loss, forward only
  bool fused_quantization = false;  ///< fp8, mxfp8: a norm casts its output itself
  ScanRates mamba_rates{{0.6e12}, {0.18e12}}, delta_net_rates{{0.6e12}, {0.6e12}};
  Time scan_step = microseconds(1);  ///< gated DeltaNet: of a chunk's step, which waits for the one before it
  bool grouped_multiply = false;     ///< a multiply of all experts of a rank in one kernel; else one each
  Time grouped_multiply_launch{};    ///< what each expert adds to that kernel
  /// Experts that drop no copies: the host waits for how many each of them gets, and then launches what sends them.
  bool expert_counts_to_host = false;
  /// Dropless experts: a token goes once to each node that has experts of its, which forwards it inside.
  bool copies_by_node = false;
  /// Experts one after the other: the host waits for each one's tokens to be found, which are copied out for it and
  /// whose results are added up where they belong, as Hugging Face's models did before transformers 5.
  bool expert_loop = false;
  std::int64_t vocabulary_multiple = 1;      ///< the vocabulary is padded to a multiple of so many rows a tensor rank
  bool fused_gradient_accumulation = false;  ///< weight-gradient GEMMs add into the main gradient
  TensorOverlap tensor_overlap = TensorOverlap::none;
  bool data_overlap = true;        ///< data-parallel traffic under backward (and forward for ZeRO 3)
  SumOnce sum_once = SumOnce::no;  ///< unless the scenario says
  bool zero_1_overlap = true;      ///< ZeRO 1: as data_overlap says; else gradients are summed after the last backward
  bool zero_1_all_reduce = false;  ///< ZeRO 1: every rank gets all summed gradients, of which it needs its shard
  bool zero_2_all_reduce = false;  ///< likewise ZeRO 2, bucket by bucket
  int bucket_copies = 0;           ///< ZeRO: gradients are copied into so many buckets on their way to being summed
  bool gradient_as_bucket_view =
      true;  ///< no ZeRO: gradients lie in the buckets; false: the buckets are a copy of them
  /// ZeRO 2 and 3: the gradients of the block at work are there whole, in the training precision, beside those of the
  /// block before, as they are handed over to be summed.
  bool block_gradients = false;
  bool copies_gathered = false;  ///< ZeRO 3: parameters are copied out of the buffer that they were gathered in
  /// From step to step; else a step with one micro-batch has none until its backward pass makes them, block by block.
  bool gradients_persist = true;
  bool master_weights = true;        ///< training in 16 bits keeps a copy of the parameters in fp32, which is updated
  double optimizer_temporaries = 0;  ///< bytes of each parameter that it updates, besides, while it does
  double activation_overhead = 0;    ///< what activations take besides what backward needs, in shares of that: tensors
                                     ///< that the program still holds, temporary ones, gaps of the allocator
  ReportedMemory reported_memory = ReportedMemory::fullest;  ///< of which GPU measured.peak_memory is
  int fp32_logits = 1;              ///< unfused loss: so many copies of the logits in fp32 at its peak
  bool autograd_gradients = false;  ///< what a backward pass makes is kept, in the training precision, beside the
                                    ///< main gradients that it is added to once the pass is over
  PipelineOverlap pipeline_overlap = PipelineOverlap::no;
  Partition partition = Partition::layers;  ///< of the model among stages
  bool gather_inputs_again = true;  ///< sequence parallelism: backward gathers again what a multiply gathered forward;
                                    ///< else that was kept
  Autocast autocast = Autocast::no;
  bool fp32_adapters = false;  ///< under autocast: an adapter's input is cast to fp32, where its dropout runs, and back
  bool adapter_all_to_all = false;  ///< sequence parallelism: results of adapters behind a layer's second multiplies
                                    ///< are exchanged for those of a rank's own tokens; else all are gathered
  bool batch_first = false;     ///< sequence parallelism: tensors are batch x sequence x hidden, so what is gathered
                                ///< or scattered is copied; else sequence x batch x hidden
  bool micro_pipeline = false;  ///< TensorOverlap::all as PyTorch's asynchronous tensor parallelism has it
  bool scatter_gather = false;  ///< stage-to-stage sends are split over the tensor ranks, gathered on arrival
  bool channels_last = true;    ///< convolutions: false: 2-byte tensors are turned around each multiply (NCHW)
  NormInConvolutions norm_in_convolutions = NormInConvolutions::none;
  bool fused_norm_relu = true;  ///< batch norm, ReLU and the residual's addition in one kernel
  double winograd = 1;          ///< without matrix units, 3x3 convolutions of stride 1 run this much faster
  Bytes bucket{25 << 20};       ///< gradient bucket
  Precision gradient_precision = Precision::fp32;            ///< on the wire
  Precision main_gradient_precision = Precision::fp32;       ///< as accumulated
  MomentPrecision moment_precision = MomentPrecision::fp32;  ///< of the optimizer's moments as kept
  double optimizer_bytes_per_parameter = 0;  ///< memory traffic of a step: unscale, clip, `optimizer`, copy back
  Optimizer optimizer = Optimizer::adam;     ///< whose traffic that is: another's moments are taken off or added to it
  double elementwise_efficiency = 1;       ///< share of the GPU's streaming rate that elementwise kernels reach, (0, 1]
  bool dummy_weight_gradients = false;     ///< autograd is given an empty gradient for each shape of weight, all kept
  bool recompute_stops_early = false;      ///< once backward has its inputs: PyTorch's non-reentrant checkpointing
  bool recompute_fused_attention = false;  ///< selective: fused attention runs again too, else it is left alone
  /// Full recomputation: tensor ranks share out a layer's input, which all of them have, and gather it before they run
  /// the layer again.
  bool partition_activations = false;
  bool gather_for_recompute = false;  ///< ZeRO 3: backward gathers parameters once to recompute, once more to go back
  /// ZeRO 3: so many gathered numbers are there at most, beside the weight at work; none: the block at work and the
  /// next.
  std::optional<double> live_parameters{};
  Bytes parameter_prefetch{1LL << 40};  ///< ZeRO 3: at most so much of the next layer is gathered while one runs
  Time kernel_gap{};                    ///< GPU idle between two kernels of one stream
  /// What the host needs, which runs ahead of the GPU (docs/model.md): to launch one kernel, its operator's Python and
  /// dispatch included; one collective (none: as a kernel); for each checkpointed layer that backward repeats; for each
  /// pass of a micro-batch; and in a step while the GPU waits for it, between two steps or before the update.
  Time host_per_kernel{};
  Time host_per_linear{};  ///< more for each multiply of a linear layer
  Time host_per_expert{};  ///< of a launch that a library makes for each of a rank's experts; 0: one for all of them
  std::optional<Time> host_per_collective{};
  Time host_per_checkpoint{}, host_per_pass{}, host_per_step{};
  /// ZeRO 3: for each layer in each pass, of the hooks that fetch and release its modules' parameters. Of experts in a
  /// loop each takes its part of it.
  Time host_per_gathered_layer{};
  /// For each layer of experts in each pass, besides its launches, on any CPUs; not where a graph has its router.
  Time host_per_expert_layer{};
  /// Where stages exchange tensors over the network, a collective among tensor ranks costs the host so much more for
  /// each other rank: hosts that wait for other stages start it at unlike moments. Only measured steps tell it
  /// (stepcast fit --runs).
  Time host_per_peer{};
  double host_time = 1;          ///< of all these, what they take on the cluster's CPUs (topology::NodeSpec)
  bool launch_blocking = false;  ///< CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel, so nothing overlaps
  bool pipeline_sync = false;    ///< the host waits for the GPU after each send between stages that nothing hides
  bool compiled = false;         ///< elementwise kernels that follow each other are launched as one
  CudaGraphs cuda_graphs = CudaGraphs::none;
  CapturedModules cuda_graph_modules{};  ///< of each layer, where `cuda_graphs` is none
  /// In a running step, of the rates that kernels reach when measured alone: clocks under load, cold caches, the age of
  /// the libraries. (0, 1]
  double compute_share = 1;
  double overlap_slowdown = 0;  ///< compute takes 1 + this while a collective runs beside it
  /// What traffic between nodes waits for besides, before it begins; only measured steps tell it (stepcast fit --runs).
  Time tensor_delay{};                 ///< a collective among tensor ranks, for each node of theirs but one
  Time send_delay{};                   ///< a send from stage to stage, where the cluster has
  std::uint32_t send_delay_nodes = 2;  ///< so many nodes or more, or where
  std::optional<std::uint32_t> send_delay_tensor_nodes{};  ///< tensor ranks are on so many or more; none: only there
  /// What the hosts of two stages stand still for while one hands the other an activation, or its gradient.
  Time activation_hold{}, gradient_hold{};
  Bytes memory_reserve{};  ///< context, library workspaces, fragmentation
  collectives::Transport transport;
  std::string transport_stack;  ///< the file of configs/software/ whose constants `transport` starts from
  std::string source;
};

/// What the host needs, but for collectives, whose time may be a kernel's.
inline constexpr std::array kHostTimes{
    &Software::host_per_kernel, &Software::host_per_linear, &Software::host_per_expert, &Software::host_per_checkpoint,
    &Software::host_per_pass,   &Software::host_per_step,   &Software::host_per_peer};

/// Host work on the cluster's CPUs.
inline Time on_host(const Software& software, Time work) {
  return software.host_time == 1 ? work : from_seconds(to_seconds(work) * software.host_time);
}

}  // namespace stepcast::schedules
