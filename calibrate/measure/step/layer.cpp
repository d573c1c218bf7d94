#include "calibrate/measure/step/layer.h"

#include "calibrate/measure/kernels/activation.h"
#include "calibrate/measure/kernels/attention.h"
#include "calibrate/measure/kernels/norm.h"

namespace stepcast::measure {
namespace {

/// Queries, keys and values of a row lie side by side, each head by head.
AttentionCall attention_of(const LayerShape& s) {
  AttentionCall a;
  a.sequences = s.sequences;
  a.heads = s.heads;
  a.queries = a.keys = static_cast<int>(s.sequence);
  a.head = static_cast<int>(s.head);
  a.causal = true;
  const std::int64_t row = 3 * s.width();
  a.q = a.k = a.v = {s.sequence * row, s.head, row};
  a.o = {s.sequence * s.width(), s.head, s.width()};
  return a;
}

/// Output and log-sums of the rows, from queries, keys and values.
void attend(const Engine& engine, const LayerShape& s, LayerSaved& saved) {
  saved.attention.clear();  // an output that is made again takes the place of the first
  saved.attention = engine.pool.take<bf16>(s.rows() * s.width());
  saved.log_sum = engine.pool.take<float>(s.rows() * s.heads);
  const bf16* const q = saved.qkv.data();
  attention_forward(attention_of(s), q, q + s.width(), q + 2 * s.width(), saved.attention.data(), saved.log_sum.data(),
                    engine.stream);
}

Norm<bf16> norm_of(const LayerShape& s, const bf16* gamma, const bf16* beta, const PoolBlock<float>& mean,
                   const PoolBlock<float>& rstd) {
  return {s.rows(), s.hidden, gamma, beta, mean.data(), rstd.data()};
}

}  // namespace

LayerShape layer_shape(const StepCase& step) {
  LayerShape s;
  s.sequences = step.micro_batch;
  s.sequence = step.sequence;
  s.hidden = step.hidden;
  s.heads = step.heads / step.tensor;
  s.head = step.hidden / step.heads;
  s.tensor = step.tensor;
  s.recompute = step.recompute;
  return s;
}

template <class T>
LayerTensors<T> layer_tensors(const StepParameters& parameters, int layer, T* flat) {
  const auto at = [&](const char* name) { return flat + parameters.offset(layer_prefix(layer) + name); };
  return {at("query weight"), at("projection weight"), at("up weight"),  at("down weight"),
          at("norm 1 gamma"), at("norm 1 beta"),       at("query bias"), at("projection bias"),
          at("norm 2 gamma"), at("norm 2 beta"),       at("up bias"),    at("down bias")};
}
template LayerTensors<const bf16> layer_tensors(const StepParameters&, int, const bf16*);
template LayerTensors<float> layer_tensors(const StepParameters&, int, float*);

PoolBlock<bf16> layer_forward(const Engine& engine, const LayerShape& s, const LayerTensors<const bf16>& w,
                              const LayerDropout& dropout, PoolBlock<bf16> x, LayerSaved& saved) {
  const std::int64_t rows = s.rows(), h = s.hidden, width = s.width(), inner = s.inner();
  const auto take = [&](std::int64_t columns) { return engine.pool.take<bf16>(rows * columns); };
  const auto statistic = [&] { return engine.pool.take<float>(rows); };
  saved.x = std::move(x);
  saved.mean1 = statistic();
  saved.rstd1 = statistic();
  saved.norm1 = take(h);
  norm_forward(norm_of(s, w.norm1_gamma, w.norm1_beta, saved.mean1, saved.rstd1), saved.x.data(), saved.norm1.data(),
               engine.stream);
  saved.qkv = take(3 * width);
  linear(engine, saved.norm1.data(), w.qkv, w.qkv_bias, saved.qkv.data(), rows, h, 3 * width);
  attend(engine, s, saved);
  PoolBlock<bf16> part = take(h);
  linear(engine, saved.attention.data(), w.projection, nullptr, part.data(), rows, width, h);
  sum_over_tensor_ranks(engine, s.tensor, part);
  saved.middle = take(h);
  saved.mask1 = engine.pool.take<unsigned char>(rows * h);
  bias_dropout_add(part.data(), w.projection_bias, saved.x.data(), saved.middle.data(), saved.mask1.data(), rows, h,
                   dropout.attention, engine.stream);

  saved.mean2 = statistic();
  saved.rstd2 = statistic();
  saved.norm2 = take(h);
  norm_forward(norm_of(s, w.norm2_gamma, w.norm2_beta, saved.mean2, saved.rstd2), saved.middle.data(),
               saved.norm2.data(), engine.stream);
  saved.up = take(inner);
  linear(engine, saved.norm2.data(), w.up, w.up_bias, saved.up.data(), rows, h, inner);
  saved.gelu = take(inner);
  gelu_forward(saved.up.data(), saved.gelu.data(), rows * inner, engine.stream);
  linear(engine, saved.gelu.data(), w.down, nullptr, part.data(), rows, inner, h);
  sum_over_tensor_ranks(engine, s.tensor, part);
  PoolBlock<bf16> y = take(h);
  saved.mask2 = engine.pool.take<unsigned char>(rows * h);
  bias_dropout_add(part.data(), w.down_bias, saved.middle.data(), y.data(), saved.mask2.data(), rows, h, dropout.mlp,
                   engine.stream);

  if (s.recompute == StepRecompute::selective) saved.log_sum.clear();
  if (s.recompute == StepRecompute::full) {
    LayerSaved input;
    input.x = std::move(saved.x);
    saved = std::move(input);
  }
  return y;
}

PoolBlock<bf16> layer_backward(const Engine& engine, const LayerShape& shape, const LayerTensors<const bf16>& w,
                               const LayerTensors<float>& g, const LayerDropout& dropout, LayerSaved saved,
                               PoolBlock<bf16> dy) {
  LayerShape s = shape;
  if (s.recompute == StepRecompute::full) {
    s.recompute = StepRecompute::none;
    PoolBlock<bf16> x = std::move(saved.x);
    layer_forward(engine, s, w, dropout, std::move(x), saved);
  }
  const std::int64_t rows = s.rows(), h = s.hidden, width = s.width(), inner = s.inner();
  const auto take = [&](std::int64_t columns) { return engine.pool.take<bf16>(rows * columns); };

  // The MLP's half. Each block goes back as soon as nothing reads it any more.
  PoolBlock<bf16> dpart = take(h);
  bias_dropout_add_backward(dy.data(), saved.mask2.data(), dpart.data(), rows, h, dropout.mlp.probability,
                            engine.stream);
  bias_backward(dpart.data(), g.down_bias, rows, h, engine.stream);
  PoolBlock<bf16> dgelu = take(inner);
  linear_input_gradient(engine, dpart.data(), w.down, dgelu.data(), rows, inner, h);
  linear_weight_gradient(engine, saved.gelu.data(), dpart.data(), g.down, rows, inner, h);
  saved.gelu.clear();
  PoolBlock<bf16> dup = take(inner);
  gelu_backward(saved.up.data(), dgelu.data(), dup.data(), rows * inner, engine.stream);
  dgelu.clear();
  saved.up.clear();
  bias_backward(dup.data(), g.up_bias, rows, inner, engine.stream);
  linear_input_gradient(engine, dup.data(), w.up, dpart.data(), rows, h, inner);
  linear_weight_gradient(engine, saved.norm2.data(), dup.data(), g.up, rows, h, inner);
  dup.clear();
  saved.norm2.clear();
  sum_over_tensor_ranks(engine, s.tensor, dpart);
  PoolBlock<bf16> dmiddle = take(h);
  norm_backward(norm_of(s, w.norm2_gamma, w.norm2_beta, saved.mean2, saved.rstd2), saved.middle.data(), dpart.data(),
                dy.data(), dmiddle.data(), g.norm2_gamma, g.norm2_beta, engine.stream);
  saved.middle.clear();

  // Attention's half.
  bias_dropout_add_backward(dmiddle.data(), saved.mask1.data(), dpart.data(), rows, h, dropout.attention.probability,
                            engine.stream);
  bias_backward(dpart.data(), g.projection_bias, rows, h, engine.stream);
  PoolBlock<bf16> dattention = take(width);
  linear_input_gradient(engine, dpart.data(), w.projection, dattention.data(), rows, width, h);
  linear_weight_gradient(engine, saved.attention.data(), dpart.data(), g.projection, rows, width, h);
  if (s.recompute == StepRecompute::selective) attend(engine, s, saved);
  PoolBlock<bf16> dqkv = take(3 * width);
  {
    const AttentionCall a = attention_of(s);
    const PoolBlock<float> work = engine.pool.take<float>(attention_work(a));
    const bf16* const q = saved.qkv.data();
    bf16* const dq = dqkv.data();
    attention_backward(a, q, q + width, q + 2 * width, saved.attention.data(), dattention.data(), saved.log_sum.data(),
                       dq, dq + width, dq + 2 * width, work.data(), engine.stream);
  }
  saved.qkv.clear();
  saved.attention.clear();
  dattention.clear();
  bias_backward(dqkv.data(), g.qkv_bias, rows, 3 * width, engine.stream);
  linear_input_gradient(engine, dqkv.data(), w.qkv, dpart.data(), rows, h, 3 * width);
  linear_weight_gradient(engine, saved.norm1.data(), dqkv.data(), g.qkv, rows, h, 3 * width);
  dqkv.clear();
  sum_over_tensor_ranks(engine, s.tensor, dpart);
  PoolBlock<bf16> dx = std::move(dy);
  norm_backward(norm_of(s, w.norm1_gamma, w.norm1_beta, saved.mean1, saved.rstd1), saved.x.data(), dpart.data(),
                dmiddle.data(), dx.data(), g.norm1_gamma, g.norm1_beta, engine.stream);
  return dx;
}

}  // namespace stepcast::measure
