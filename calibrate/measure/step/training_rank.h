#pragma once

#include <map>
#include <memory>
#include <vector>

#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/host/step_parameters.h"
#include "calibrate/measure/step/ends.h"
#include "calibrate/measure/step/layer.h"
#include "calibrate/measure/step/optimizer.h"
#include "calibrate/measure/step/phase_clock.h"

namespace stepcast::measure {

/// What does not change what a step costs.
struct TrainingConstants {
  float deviation = 0.02f;  ///< of weights at the start
  float dropout = 0.1f;
  Adam adam{};
  int host_threads = 1;  ///< of this rank, that update what is offloaded
};

/// One rank of a training step: its part of the model on the GPU that is current when it is made, and the passes of its
/// stage. Used by one thread at a time, with that GPU current.
class TrainingRank {
 public:
  TrainingRank(const StepCase& step, const TrainingConstants& training, int rank, Peers& peers);

  /// Runs a step without a word to the others, then begins anew: after that run() asks its GPU for no memory and loads
  /// no kernel. Where one process has several GPUs either may wait for a GPU whose NCCL kernel waits for this one:
  /// cudaMalloc and cudaFree (github.com/NVIDIA/nccl issues 48 and 70, pytorch issue 50925), lazy loading (CUDA
  /// programming guide, 4.7; dmlc/xgboost pull request 9367). Throws std::runtime_error where memory does not suffice,
  /// and nobody waits.
  void rehearse();

  /// One step: 1F1B over the micro-batches, gradients summed over the data ranks, Adam. Waits until it is done.
  void run();

  /// Of the last step, over this data rank's micro-batches; 0 where the last stage is another's.
  double loss();
  StepPhases phases() const { return clock_.phases(); }
  const StepParameters& parameters() const { return parameters_; }
  std::vector<bf16> values();      ///< of the parameters
  std::vector<float> gradients();  ///< of the last step: of the mean loss over all data ranks
  std::int64_t peak_bytes() const { return pool_.peak(); }
  std::int64_t reserved_bytes() const { return pool_.reserved(); }

 private:
  struct MicroBatchState {
    std::vector<LayerSaved> layers;
    HeadSaved head;
  };
  void find_tensors();
  void upload_tokens();
  void start();
  void exchange(const StepExchange& exchange);
  void forward(int micro_batch);
  void backward(int micro_batch);
  void sum_gradients();
  LayerDropout dropout(int micro_batch, int layer) const;
  const std::int32_t* ids(const PoolBlock<std::int32_t>& all, int micro_batch) const;

  StepCase step_;
  TrainingConstants training_;
  StepRank at_;
  bool first_, last_;
  int first_layer_, layers_;
  Stream stream_;
  CublasGemm gemm_;
  Pool pool_;  // outlives all blocks below
  Engine engine_;
  LayerShape layer_;
  EndsShape ends_;
  StepParameters parameters_;
  PoolBlock<bf16> values_;
  PoolBlock<float> gradients_, loss_;
  std::vector<LayerTensors<const bf16>> layer_weights_;  // of this stage
  std::vector<LayerTensors<float>> layer_gradients_;
  EmbeddingTensors<const bf16> embedding_weights_{};  // of the first stage
  EmbeddingTensors<float> embedding_gradients_{};
  HeadTensors<const bf16> head_weights_{};  // of the last stage
  HeadTensors<float> head_gradients_{};
  PoolBlock<std::int32_t> ids_, targets_, places_;
  std::unique_ptr<AdamOptimizer> optimizer_;
  std::map<int, MicroBatchState> in_flight_;  // by micro-batch
  std::map<int, PoolBlock<bf16>> activations_, new_activations_, gradient_in_, gradient_out_;
  PhaseClock clock_;
  std::int64_t steps_ = 0;
};

}  // namespace stepcast::measure
