#pragma once

#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/host/step_parameters.h"
#include "calibrate/measure/kernels/embedding.h"
#include "calibrate/measure/step/engine.h"

namespace stepcast::measure {

/// What stands before the first layer and behind the last: embedding with positions; norm, the embedding's matrix once
/// more, and the loss. The vocabulary is divided over the tensor ranks.
struct EndsShape {
  std::int64_t rows = 0, hidden = 0, sequence = 0;
  TablePart words;  ///< of this rank
  int tensor = 1, tensor_rank = 0;
};
EndsShape ends_shape(const StepCase& step, const StepRank& rank);

template <class T>
struct EmbeddingTensors {
  T *words, *positions;
};
/// `ids`, `places`: of each row, its token and its place in the sequence.
PoolBlock<bf16> embedding_forward(const Engine& engine, const EndsShape& shape,
                                  const EmbeddingTensors<const bf16>& weights, const std::int32_t* ids,
                                  const std::int32_t* places);
void embedding_backward(const Engine& engine, const EndsShape& shape, const EmbeddingTensors<float>& gradients,
                        const std::int32_t* ids, const std::int32_t* places, const PoolBlock<bf16>& dx);

template <class T>
struct HeadTensors {
  T *words, *norm_gamma, *norm_beta;
};
struct HeadSaved {
  PoolBlock<bf16> x, norm, logits;
  PoolBlock<float> mean, rstd, log_sum;
};
/// loss += mean over the rows of -log(probability of the target).
HeadSaved head_forward(const Engine& engine, const EndsShape& shape, const HeadTensors<const bf16>& weights,
                       const std::int32_t* targets, PoolBlock<bf16> x, float* loss);
/// Gradient of x of `scale` times the sum over the rows.
PoolBlock<bf16> head_backward(const Engine& engine, const EndsShape& shape, const HeadTensors<const bf16>& weights,
                              const HeadTensors<float>& gradients, const std::int32_t* targets, float scale,
                              HeadSaved saved);

}  // namespace stepcast::measure
