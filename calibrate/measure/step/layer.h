#pragma once

#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/host/step_parameters.h"
#include "calibrate/measure/kernels/dropout.h"
#include "calibrate/measure/step/engine.h"

namespace stepcast::measure {

/// A rank's part of a layer, for one micro-batch.
struct LayerShape {
  std::int64_t sequences = 0, sequence = 0, hidden = 0;
  std::int64_t heads = 0, head = 0;  ///< heads of this rank
  int tensor = 1;
  StepRecompute recompute = StepRecompute::none;

  std::int64_t rows() const { return sequences * sequence; }
  std::int64_t width() const { return heads * head; }  ///< of queries, keys or values of this rank
  std::int64_t inner() const { return 4 * width(); }
};
LayerShape layer_shape(const StepCase& step);

/// Where a layer's parameters, or their gradients, lie.
template <class T>
struct LayerTensors {
  T *qkv, *projection, *up, *down;
  T *norm1_gamma, *norm1_beta, *qkv_bias, *projection_bias, *norm2_gamma, *norm2_beta, *up_bias, *down_bias;
};
template <class T>
LayerTensors<T> layer_tensors(const StepParameters& parameters, int layer, T* flat);

/// What forward keeps for backward.
struct LayerSaved {
  PoolBlock<bf16> x, norm1, qkv, attention, middle, norm2, up, gelu;  ///< middle: the residual between the halves
  PoolBlock<float> mean1, rstd1, log_sum, mean2, rstd2;
  PoolBlock<unsigned char> mask1, mask2;
};
struct LayerDropout {
  Dropout attention, mlp;
};

/// x + attention(norm(x)), then the same with the MLP (GPT-2's order: norm before each half); `saved` gets what
/// backward needs.
PoolBlock<bf16> layer_forward(const Engine& engine, const LayerShape& shape, const LayerTensors<const bf16>& weights,
                              const LayerDropout& dropout, PoolBlock<bf16> x, LayerSaved& saved);

/// Gradient of x from that of the result; adds to `gradients`. Runs forward again what was not saved.
PoolBlock<bf16> layer_backward(const Engine& engine, const LayerShape& shape, const LayerTensors<const bf16>& weights,
                               const LayerTensors<float>& gradients, const LayerDropout& dropout, LayerSaved saved,
                               PoolBlock<bf16> dy);

}  // namespace stepcast::measure
