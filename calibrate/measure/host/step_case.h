#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/measure/host/statistics.h"

namespace stepcast::measure {

/// Seconds of one step on one GPU, by what ran; they add up to its time on the stream.
struct StepPhases {
  double layers_forward = 0, layers_backward = 0;  ///< transformer layers, tensor-parallel sums included
  double ends_forward = 0, ends_backward = 0;      ///< embedding, head, loss
  double pipeline = 0;                             ///< sends, receives, and waiting for other stages
  double data = 0;                                 ///< gradients summed over data ranks, and of tied matrices
  double optimizer = 0;                            ///< with offload: copies and the host's work too
};

/// What backward runs again. selective: the attention core, as Megatron-Core does with a fused one (Korthikanti et al.
/// 2022, arXiv 2205.05198, section 5): its inputs stay, and its output stays as the projection's input; the log-sums of
/// its rows go. full: the layer, which keeps its input alone.
enum class StepRecompute { none, selective, full };
/// As the scenario's key `recompute` names it.
const char* recompute_name(StepRecompute recompute);

/// A training step of stepcast's own transformer: GPT blocks (layer norm, attention, MLP with GELU), bf16 with fp32
/// main gradients, Adam. GPUs = data x tensor x pipeline; ranks are numbered tensor first, then data, then pipeline.
struct StepCase {
  int layers = 0, hidden = 0, heads = 0, vocab = 0, sequence = 0;
  int micro_batch = 1, micro_batches = 1;  ///< sequences of one micro-batch; micro-batches of one data rank
  int data = 1, tensor = 1, pipeline = 1;
  StepRecompute recompute = StepRecompute::none;
  bool offload = false;  ///< the optimizer's fp32 state is in host memory, and the host's cores update (ZeRO-Offload)

  int gpus() const { return data * tensor * pipeline; }
};

/// Where a rank stands.
struct StepRank {
  int tensor = 0, data = 0, stage = 0;
};
StepRank step_rank(const StepCase& step, int rank);

/// One pass of a stage: forward or backward of a micro-batch.
struct StepPass {
  bool forward = true;
  int micro_batch = 0;
  bool operator==(const StepPass&) const = default;
};
/// 1F1B: stage s runs min(pipeline - s - 1, micro-batches) forwards ahead, then one forward, one backward.
/// Source: Narayanan et al. 2021 (arXiv 2104.04473), section 2.2.
std::vector<StepPass> one_f_one_b(const StepCase& step, int stage);

/// What a stage sends and waits for between two passes, all at once: the result of the pass before, and what the next
/// one needs. Micro-batches; -1: nothing.
struct StepExchange {
  int send_activation = -1, receive_activation = -1;  ///< to the next stage, from the one before
  int send_gradient = -1, receive_gradient = -1;      ///< to the stage before, from the next one
};
/// Before each pass of one_f_one_b() and after the last: one more than it has passes.
std::vector<StepExchange> step_exchanges(const StepCase& step, int stage);

/// What is wrong with it, "" for nothing: what does not divide, sizes that the kernels do not take (heads of 64 or
/// 128).
std::string fault(const StepCase& step);

/// Parameters of the whole model. The head uses the embedding's matrix, as GPT does.
std::int64_t parameters(const StepCase& step);

/// The steps to measure on `gpus` GPUs of `memory_bytes` each, most valuable first: every split of the GPUs into
/// data x tensor x pipeline on a few shapes; then recomputation; other micro-batches and accumulation; offload.
std::vector<StepCase> step_plan(int gpus, std::int64_t memory_bytes, bool quick);

/// The name of its row: "gpt-l24-h2048-s2048-mb2x4-d1t1p1-full-offload".
std::string step_name(const StepCase& step);

/// Columns of the runs table and a row of it (shared form of all runs tables: docs/scenario-reference.md). `node`: a
/// file of configs/nodes. Phases and the peak of memory go where `stepcast validate` looks for them.
struct StepResult {
  SampleSpread step;
  StepPhases phases;            ///< medians, of a rank of the last stage
  std::int64_t peak_bytes = 0;  ///< most of any rank: what the step's own allocator handed out at one time
  std::int64_t used_bytes = 0;  ///< of the whole GPU, as cudaMemGetInfo says: context, libraries and NCCL included
};
std::vector<std::string> step_table_columns();
std::vector<std::string> step_table_cells(const StepCase& step, const StepResult& result, const std::string& node,
                                          const std::string& run);

/// The file of configs/nodes/ whose GPUs are called that by the driver, on a node with `gpus` of them: "dgx-h200" for
/// "NVIDIA H200"; "" for GPUs that it does not know.
std::string node_named(const std::string& gpu_name, int gpus);

}  // namespace stepcast::measure
