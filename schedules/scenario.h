#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/transport.h"
#include "schedules/cost/gpu.h"
#include "schedules/data_parallel/exchange.h"
#include "schedules/imperfections.h"
#include "schedules/model/model.h"
#include "schedules/offload/host_link.h"
#include "schedules/offload/offload.h"
#include "schedules/optimizer.h"
#include "schedules/pipeline/pipeline.h"
#include "schedules/recomputed_modules.h"
#include "schedules/software.h"
#include "sim/units.h"
#include "topology/allocation.h"
#include "topology/cluster.h"
#include "topology/spec.h"
#include "workload/machine.h"

namespace stepcast::schedules {

/// One question: which cluster, which model, which plan. Plain data, as read from a scenario file or a row of a runs
/// table.

/// GPUs of a second kind in the nodes' sockets: from the `first` one on.
struct OtherGpus {
  Gpu gpu;
  std::uint32_t first = 0;
};

struct ClusterSpec {
  topology::NodeSpec node;
  topology::FabricSpec fabric;
  Gpu gpu;
  std::uint32_t gpus = 0;
  std::optional<topology::Allocation> allocation{};  ///< which ones; none: the first
  std::optional<OtherGpus> other{};
  std::string nccl{};  ///< the software stack whose constants were fitted on such machines, if any
};

enum class Recompute : std::uint8_t { none, selective, full };

/// How many tokens an expert gets.
struct ExpertLoad {
  std::optional<double> capacity{};  ///< each gets this times its even share, padded or cut to it; none: dropless
  double spread = 0;                 ///< dropless: standard deviation of the experts' loads over their mean
  std::uint64_t seed = 0;            ///< of the draw
  /// A token's experts lie on at most so many nodes, each of which gets one copy and forwards it inside: DeepSeek-V3
  /// (arXiv 2412.19437), sec. 2.1.2 and 3.2.2. None: its copies travel one by one.
  std::optional<std::uint32_t> node_limit{};
};

/// Where the scale of an fp8 tensor is from: steps before, or the tensor itself.
enum class Scaling : std::uint8_t { delayed, current };

struct Training {
  std::int64_t global_batch = 0;  ///< samples per step
  std::int64_t micro_batch = 0;   ///< samples per pass and data-parallel rank
  std::int64_t sequence = 2048;   ///< tokens per sample; t5: the encoder's
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adam;
  std::optional<Attention> attention{};  ///< none: the software's own
  std::int64_t frozen_layers = 0;        ///< the first so many layers, and the embedding, are not trained
  std::int64_t decoder_sequence = 0;     ///< t5: the decoder's tokens per sample
  std::optional<Fusion> fusion{};        ///< of elementwise kernels; none: the software's own
  bool balance = false;                  ///< with GPUs of two kinds: data ranks share the batch by speed, else equally
  std::int64_t predictions = 0;          ///< bert: tokens per sample that go through the masked-word head; 0: all
  ExpertLoad expert_load{};
  Scaling scaling = Scaling::delayed;  ///< fp8
  bool eight_bit_parameters = false;   ///< fp8, mxfp8: the model's own parameters have 8 bits, and are gathered so
  /// Low precision: so many of the first and of the last layers keep their linear multiplies in bf16.
  std::int64_t bf16_layers_at_start = 0, bf16_layers_at_end = 0;
};

/// How the ranks that share a sequence see each other's keys and values.
enum class ContextMethod : std::uint8_t {
  ring,        ///< passed round while attention runs (Liu et al. 2023, arXiv 2310.01889), causal halves balanced
  all_gather,  ///< gathered first (Llama 3, arXiv 2407.21783, sec. 3.3.2)
  ulysses      ///< exchanged for heads (Jacobs et al. 2023, arXiv 2309.14509)
};

/// How linear layers are split over the tensor ranks (schedules/model/multiply_pair.h).
enum class TensorMethod : std::uint8_t {
  megatron,          ///< in pairs: the first one's outputs are shared, the second one takes them as they are
  partition_output,  ///< every one's outputs are shared, and gathered where the next one needs them whole
  reduce_output      ///< every one's inputs are shared, and its partial outputs added up
};

/// Tensor ranks as a grid on which each weight lies, its inputs over the rows and its outputs over the columns, or the
/// other way round in the second multiply of a pair; `depth` such grids share the samples, and each weight once more
/// (Singh et al. 2023, arXiv 2305.13525). Columns are innermost, then rows.
struct TensorGrid {
  std::uint32_t rows = 1, columns = 1, depth = 1;
  friend bool operator==(const TensorGrid&, const TensorGrid&) = default;
};

/// A way to share the work.
enum class Dimension : std::uint8_t { tensor, context, data, pipeline };
inline constexpr std::size_t kDimensions = 4;

struct Parallelism {
  std::uint32_t tensor = 1, pipeline = 1, data = 1;
  bool sequence = false;                          ///< Megatron's sequence parallelism over the tensor ranks
  std::vector<std::uint32_t> layers_per_stage{};  ///< of each model chunk, in the model's order; none: as many each
  std::uint32_t context = 1;                      ///< ranks that share each sequence
  std::uint32_t expert = 1;                       ///< ranks of a stage that share the experts
  ContextMethod context_method = ContextMethod::ring;
  std::optional<TensorMethod> tensor_method{};  ///< none: megatron; networks: partition_output
  std::optional<TensorGrid> tensor_grid{};      ///< none: one row
  /// How ranks are numbered: those of the first dimension are neighbours.
  std::array<Dimension, kDimensions> order{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
};

inline std::uint32_t size(const Parallelism& plan, Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor:
      return plan.tensor;
    case Dimension::context:
      return plan.context;
    case Dimension::data:
      return plan.data;
    case Dimension::pipeline:
      break;
  }
  return plan.pipeline;
}

inline TensorGrid grid(const Parallelism& plan) {
  return plan.tensor_grid.value_or(TensorGrid{.columns = plan.tensor});
}
/// Whether it is more than one row: tensor parallelism of two or three dimensions.
inline bool is_grid(const TensorGrid& grid) { return grid.rows > 1 || grid.depth > 1; }

/// Ranks of a stage with the same weights, experts apart: they sum their gradients.
inline std::uint32_t weight_copies(const Parallelism& plan) { return plan.data * plan.context; }
/// Ranks of a stage with the same experts.
inline std::uint32_t expert_copies(const Parallelism& plan) {
  return plan.tensor * plan.context * plan.data / plan.expert;
}

struct PipelinePlan {
  std::string schedule = "1f1b";  ///< a name of schedules/pipeline/pipelines.h, or custom
  std::uint32_t virtual_stages = 1;
  std::optional<std::uint32_t> micro_batch_group{};  ///< as Shape's; none: the schedule's own
  std::vector<std::string> orders{};            ///< custom: one per stage, as schedules/pipeline/custom.h reads them
  Placement placement = Placement::looping;     ///< custom
  std::optional<std::uint32_t> most_in_flight;  ///< refuse an order that holds more; none: any
  bool embedding_as_layer = false;  ///< what comes before the first layer counts as one where all get as many
  bool head_as_layer = false;       ///< what comes after the last one, likewise
};

/// Through whom gradients are summed over the data ranks.
enum class DataParallelMode : std::uint8_t { all_reduce, parameter_server, sharded_parameter_server };

struct DataParallelPlan {
  DataParallelMode mode = DataParallelMode::all_reduce;
  int zero = 0;                                 ///< 0 replicated, 1 optimizer state, 2 + gradients, 3 + parameters
  std::optional<std::uint32_t> shard_group{};   ///< ZeRO: data ranks that share one copy between them; none: all
  std::optional<bool> overlap;                  ///< none: the software's own
  std::optional<Bytes> bucket;                  ///< none: the software's own
  std::optional<Precision> gradient_precision;  ///< on the wire; none: the software's own
  Consistency consistency = Consistency::bulk_synchronous;  ///< of servers; with all_reduce all wait for all
  std::optional<std::uint32_t> staleness{};                 ///< bounded: steps that one may be ahead of the slowest
  /// Steps that each data rank makes by itself before parameters are averaged (McMahan et al., AISTATS 2017, arXiv
  /// 1602.05629; Stich, "Local SGD", ICLR 2019, arXiv 1805.09767); 1: gradients are summed every step.
  std::uint32_t local_steps = 1;
  Compression compression{};
};

/// What feeds the data ranks. Loaders run ahead of the step, so the slowest of storage, CPU and GPU sets the pace.
struct InputPlan {
  std::optional<Bytes> bytes_per_sample{};       ///< read from storage
  std::optional<Bandwidth> storage_bandwidth{};  ///< of all data ranks together
  Time preprocessing{};                          ///< of one sample on one core
  std::uint32_t workers = 1;                     ///< cores of each data rank that preprocess
};

/// Parameters and optimizer state written out, each element once.
struct CheckpointPlan {
  std::uint32_t every = 0;                        ///< steps from one to the next; 0: none
  std::optional<Bandwidth> bandwidth{};           ///< of the storage, all GPUs together
  bool asynchronous = false;                      ///< copied to host memory first, written while training goes on
  std::optional<Bandwidth> snapshot_bandwidth{};  ///< of one GPU to host memory
};

/// What a real run showed.
struct Measured {
  std::optional<Time> step_time;
  std::optional<Bytes> peak_memory;
  std::map<std::string, Time> phases;  ///< layer_forward, layer_backward, exposed_data_communication, bubble
};

/// Times of collectives multiplied, to see what a step owes to them (calibrate/confidence/terms.h): no key of a file.
struct TrafficScale {
  double layers = 1;  ///< inside a layer: among tensor, context and expert ranks
  double stages = 1;  ///< sends from stage to stage
  double data = 1;    ///< gradients and parameters
};

struct Scenario {
  std::string name, source, note, confidence;
  ClusterSpec cluster;
  Model model;
  Training training;
  Parallelism parallelism;
  PipelinePlan pipeline;
  DataParallelPlan data_parallel;
  Recompute recompute = Recompute::none;
  std::optional<RecomputedModules> recomputed_modules{};  ///< selective; none: the attention core
  std::uint32_t recompute_group = 1;                      ///< full: layers repeated together from the first one's input
  std::optional<std::uint32_t> recompute_layers{};        ///< full: of each model chunk the first so many; none: all
  InputPlan input;
  CheckpointPlan checkpoint;
  OffloadPlan offload;
  HostLink host_link;  ///< measured: of a profile
  Imperfections imperfections;
  TrafficScale traffic_scale;
  Software software;
  Measured measured;
};

/// Micro-batches that one data-parallel rank runs in a step. Requires check() to be empty.
inline std::uint32_t micro_batches(const Scenario& s) {
  return static_cast<std::uint32_t>(s.training.global_batch / (s.training.micro_batch * s.parallelism.data));
}

/// Ranks over which ZeRO spreads what it shards.
inline std::uint32_t shard_ranks(const Scenario& s) {
  return s.data_parallel.shard_group.value_or(weight_copies(s.parallelism));
}

inline TensorMethod tensor_method(const Scenario& s) {
  const bool network = is_network(s.model.family);
  return s.parallelism.tensor_method.value_or(network ? TensorMethod::partition_output : TensorMethod::megatron);
}

/// What the scenario says, or else its software.
inline Attention attention(const Scenario& s) { return s.training.attention.value_or(s.software.attention); }
/// What backward runs again where it does not run whole layers again.
inline RecomputedModules recomputed_modules(const Scenario& s, Recompute recompute) {
  if (recompute != Recompute::selective) return {};
  return s.recomputed_modules.value_or(RecomputedModules{.attention_core = true});
}
/// Whether the attention core is among that. A fused one saves no scores that this would drop.
inline bool repeats_attention_core(const Scenario& s, Recompute recompute) {
  return recomputed_modules(s, recompute).attention_core &&
         (attention(s) == Attention::unfused || s.software.recompute_fused_attention);
}
/// Of what forward passes keep, the share that leaves the GPU where some of it does.
inline double offloaded_activations(const Scenario& s) {
  if (!s.offload.activation_layers) return 1;
  return static_cast<double>(*s.offload.activation_layers) / static_cast<double>(s.model.layers);
}
inline bool data_overlap(const Scenario& s) { return s.data_parallel.overlap.value_or(s.software.data_overlap); }
inline Bytes bucket(const Scenario& s) { return s.data_parallel.bucket.value_or(s.software.bucket); }
inline Precision gradient_precision(const Scenario& s) {
  return s.data_parallel.gradient_precision.value_or(s.software.gradient_precision);
}

/// Whether a GPU is of the cluster's second kind, and which GPU it is.
inline bool is_other(const ClusterSpec& cluster, topology::GpuId gpu) {
  return cluster.other && topology::index(gpu) >= cluster.other->first;
}
inline const Gpu& gpu_of(const ClusterSpec& cluster, topology::GpuId gpu) {
  return is_other(cluster, gpu) ? cluster.other->gpu : cluster.gpu;
}

/// The machine that the scenario runs on.
inline workload::MachineSpec machine_of(const Scenario& s) {
  return {s.cluster.node, s.cluster.fabric, s.cluster.gpus, s.cluster.allocation, s.software.transport};
}

/// What is wrong with a scenario whose keys are each right: the key to blame, what was found, what is allowed.
struct Problem {
  std::string key;   ///< "parallelism.tensor"
  std::string text;  ///< "tensor 3 x pipeline 1 x data 1 is 3 GPUs, the cluster has 8: ..."
};

/// Every contradiction between keys, in the order of the keys; empty: the scenario can run.
std::vector<Problem> check(const Scenario& scenario);

}  // namespace stepcast::schedules
