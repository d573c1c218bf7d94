#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/measured.h"
#include "scenario/offload.h"
#include "schedules/pipeline/pipeline.h"
#include "schedules/results/step_detail.h"
#include "sim/units.h"
#include "topology/job_spread.h"
#include "workload/lowered.h"

namespace stepcast::workload {
struct RecordedProgram;
}

namespace stepcast::schedules {

/// Where one stage's step time went. The parts, down to compression, add up to the step time exactly.
struct TimeSplit {
  Time compute{};           ///< kernels of forward, backward and recompute
  Time exposed_tensor{};    ///< tensor-parallel collectives that nothing hides
  Time exposed_pipeline{};  ///< waiting for a stage-to-stage transfer
  Time exposed_data{};      ///< data-parallel collectives that nothing hides
  Time bubble{};            ///< waiting for another stage to compute
  Time optimizer{};
  Time idle{};         ///< the rest: done before the step's end
  Time input{};        ///< waiting for samples
  Time checkpoint{};   ///< stalled by checkpoints, mean over the steps
  Time host{};         ///< the GPU waits for the host to launch what comes next
  Time offload{};      ///< copies to and from the host that nothing hides
  Time compression{};  ///< kernels that make gradients smaller for the wire, and whole again

  // What some of these parts are made of (kTimeDetails of results/time_parts.h). Told where that was asked for: then
  // the details of a part add up to it.
  Time multiplies{}, attention{}, memory_bound{};         ///< of compute, by class of kernel
  Time among_tensor{}, among_context{}, among_experts{};  ///< of exposed_tensor, by the ranks that it is among
  Time gradients{}, parameters{};                         ///< of exposed_data, by what is on its way

  Time sum() const;  ///< of all parts, without the details: results/time_parts.h lists them
};

/// What is not in GPU memory, by kind.
struct Offloaded {
  Bytes parameters{}, gradients{}, optimizer{}, activations{};
  Bytes sum() const;
};

/// Memory of one GPU at its peak, by kind: results/memory_kinds.h lists them.
struct MemoryUse {
  Bytes parameters{}, gradients{}, optimizer{}, activations{}, buffers{}, communicators{}, reserve{};
  Offloaded host{}, nvme{};
  Bytes peak() const;
  /// What the framework's allocator hands out: torch.cuda.max_memory_allocated.
  Bytes allocated() const;
  /// What a measurement of that kind counts.
  Bytes counted(MemoryFigure figure) const;
};

struct StageReport {
  std::uint32_t stage = 0;
  TimeSplit time;
  MemoryUse memory;
  std::int64_t layers = 0;
  std::uint32_t in_flight = 0;  ///< most micro-batches (of one virtual stage each) whose activations are held at once
};

/// One box of a trace: what a stage's stream did when.
struct Span {
  std::uint32_t stage = 0;
  std::uint32_t stream = 0;  ///< index into Forecast::streams
  std::string name;          ///< "forward 3.0" (micro-batch.virtual stage), "all-reduce bucket 2", ...
  Time start{}, duration{};
};

/// A pass as it ran on the first rank of a stage; two that ran together are one.
struct PassSpan {
  std::uint32_t stage = 0;
  std::optional<Pass> pass;    ///< none: the optimizer
  std::optional<Pass> beside;  ///< the backward that ran together with the forward `pass`
  Time start{}, duration{};
};

/// A transfer between stages and the pass that it arrives for: each is a span of the trace.
struct Arrow {
  std::uint32_t from_stage = 0, from_stream = 0;
  Time sent{};  ///< begin of the span that sends
  std::uint32_t to_stage = 0;
  Time received{};  ///< begin of the pass, on the compute stream
};

/// How busy the links of the traffic beside a stage's compute are from a moment on: of each communication under way the
/// share of its busiest link that it takes, mean over its time; of several the largest. 0: none is under way.
struct LinkPoint {
  std::uint32_t stage = 0;
  Time at{};
  double use = 0;
};

/// What a stage's first GPU holds from a moment on.
struct MemoryPoint {
  std::uint32_t stage = 0;
  Time at{};
  Bytes state{};  ///< all but activations: parameters, gradients, optimizer state, buffers, reserve
  Bytes activations{};
};

struct BusyLink {
  std::string name;        ///< "node 0 / gpu 2 -> node 0 / nvswitch"
  double utilisation = 0;  ///< bytes carried / (bandwidth x step time)
};

/// A change of the scenario that was tried where it does not fit.
struct Advice {
  std::vector<std::string> settings{};  ///< "recompute=full": keys of the scenario, all to be set together
  Bytes missing{};                      ///< what does not fit even so, of one GPU or of a node; 0: all fits
  bool more_gpus = false;               ///< than the scenario has
};

struct OutOfMemory {
  std::uint32_t stage = 0;
  Bytes needed{}, available{};
  std::string_view largest;  ///< of what most of it is, in words: "activations"
  Bytes of_largest{};
  Tier memory = Tier::gpu;       ///< of one GPU, or what a node of the stage has for all its GPUs
  std::vector<Advice> advice{};  ///< what makes it fit, nearest first; or what comes nearest, then more nodes
  bool advised = false;          ///< whether changes were tried
};

/// Host memory or drives of the node whose GPUs put most there.
struct NodeMemory {
  Bytes used{};
  std::optional<Bytes> size{};  ///< none: not known
};

/// What fusing elementwise kernels saves of one micro-batch on one tensor rank.
struct FusionSaving {
  double launches = 0, launches_unfused = 0;
  double bytes = 0, bytes_unfused = 0;  ///< of memory traffic of elementwise kernels
};

/// Updates by others from when a worker reads the parameters to when its own gradients change them.
struct Staleness {
  double mean = 0;
  std::uint32_t most = 0;
};

/// What each rank of one kind of GPU takes of the batch.
struct Share {
  std::string gpu;
  std::uint64_t gpus = 0;
  std::int64_t micro_batch = 0;  ///< samples
  Bytes peak{};                  ///< of the fullest
};

/// The answer to a scenario.
struct Forecast {
  bool simulated = true;  ///< else gpus, parameters and what is said of memory are all that is filled
  Time step{};  ///< with input and checkpoint stalls, mean over the steps; of all workers where they do not wait
  double samples_per_second = 0;
  std::optional<double> tokens_per_second{};  ///< nothing: its samples have none
  FlopRate model_flops_per_gpu{};             ///< model_flops() of all micro-batches / step time / GPUs
  double mfu = 0;                             ///< of the peak of the training precision
  double skipped_flops = 0;  ///< share of the model FLOPs that causal kernels skip: without them no MFU exceeds 1
  double parameters = 0;
  std::optional<double> trained_parameters{};  ///< of those; none: all are
  double active_parameters = 0;                ///< of those, without the experts that a token does not visit
  std::uint64_t gpus = 0;
  Bytes state{};  ///< parameters and their optimizer state, each element once: what a checkpoint holds
  std::vector<StageReport> stages;
  std::optional<BusyLink> busiest_link;
  std::optional<topology::JobSpread> spread;  ///< over leaf switches, of a fabric that lists them
  std::optional<FusionSaving> fusion{};       ///< where the scenario says what is fused
  /// The step if of groups whose ways through the fabric collide unlike all took the time of the fastest; `step` has
  /// that of the slowest, or with `drift` what they take if all begin together. Nothing: each has its own.
  std::optional<Time> at_least{};
  bool drift = false;  ///< they would not stay together: who meets the others on a link less often is done sooner
  std::optional<workload::Lowered>
      lowered{};                         ///< all that was simulated transfer by transfer, where that was asked for
  std::optional<Time> perfect{};         ///< the step without the scenario's imperfections, if it has any
  std::vector<Share> shares{};           ///< of GPUs of two kinds
  std::optional<Staleness> staleness{};  ///< where workers do not wait for all
  /// One layer, one micro-batch, tensor traffic included, recompute in backward; nothing: no two need be alike.
  std::optional<Time> layer_forward{}, layer_backward{};
  std::optional<OutOfMemory> out_of_memory;
  std::optional<NodeMemory> host_memory{}, drives{};  ///< none: nothing is there
  /// Where the time of the chain of work goes that decides the step, where that was asked for: what ends last, what
  /// that waited for last, and so on to the step's begin. The parts add up to the step; none of it is a bubble or idle.
  /// Nothing too where the pipeline never drains, or workers do not wait for each other in every step.
  std::optional<TimeSplit> critical_path{};
  std::vector<std::string> streams;    ///< "compute", "pipeline", "data" ...; for trace spans
  std::vector<Span> spans;             ///< only when asked for
  std::vector<PassSpan> passes;        ///< likewise; stage by stage, in order of time
  std::vector<Arrow> arrows;           ///< likewise
  std::vector<LinkPoint> link_use;     ///< likewise; stage by stage, in order of time
  std::vector<MemoryPoint> memory;     ///< likewise
  std::optional<StepDetail> detail{};  ///< likewise
  /// What was simulated, where that was asked for: the step; a round of local steps; some steps of all workers.
  std::shared_ptr<const workload::RecordedProgram> recorded{};
};

}  // namespace stepcast::schedules
