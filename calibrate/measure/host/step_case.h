#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::measure {

/// A training step of stepcast's own transformer: GPT blocks (layer norm, attention, MLP with GELU), bf16 with fp32
/// main gradients, Adam. GPUs = data x tensor x pipeline; ranks are numbered tensor first, then data, then pipeline.
struct StepCase {
  int layers = 0, hidden = 0, heads = 0, vocab = 0, sequence = 0;
  int micro_batch = 1, micro_batches = 1;  ///< sequences of one micro-batch; micro-batches of one data rank
  int data = 1, tensor = 1, pipeline = 1;
  bool recompute = false;  ///< each layer keeps its input alone and runs forward again
  bool offload = false;    ///< the optimizer's fp32 state lives in pinned host memory

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

/// What is wrong with it, "" for nothing: what does not divide, sizes that the kernels do not take (heads of 64 or
/// 128).
std::string fault(const StepCase& step);

/// Parameters of the whole model; of one rank. Embedding and output share no weights here.
std::int64_t parameters(const StepCase& step);

/// The steps to measure on `gpus` GPUs of `memory_bytes` each, most valuable first: every split of the GPUs into
/// data x tensor x pipeline on a few shapes, then accumulation, recompute and offload.
std::vector<StepCase> step_plan(int gpus, std::int64_t memory_bytes, bool quick);

/// The name of its row: "gpt-l24-h2048-s2048-mb2x4-d1t1p1-full-offload".
std::string step_name(const StepCase& step);

/// Columns of the runs table and a row of it (shared form of all runs tables: docs/scenario-reference.md). `node`: a
/// file of configs/nodes. Phases and the peak of memory go where `stepcast validate` looks for them.
struct StepResult {
  double step_s = 0, p10_s = 0, p90_s = 0;
  double forward_s = 0, backward_s = 0, gradients_s = 0, optimizer_s = 0;  ///< of the last stage, per step
  double layers_forward_s = 0, layers_backward_s = 0;  ///< of these, in the transformer layers alone
  std::int64_t peak_bytes = 0;                         ///< most of any rank
  int repeats = 0;
};
std::string step_table_header();
std::string step_table_row(const StepCase& step, const StepResult& result, const std::string& node,
                           const std::string& run);

/// The file of configs/nodes/ whose GPUs are called that by the driver, on a node with `gpus` of them: "dgx-h200" for
/// "NVIDIA H200"; "" for GPUs that it does not know.
std::string node_named(const std::string& gpu_name, int gpus);

}  // namespace stepcast::measure
