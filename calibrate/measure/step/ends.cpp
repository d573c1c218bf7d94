#include "calibrate/measure/step/ends.h"

#include "calibrate/measure/kernels/cross_entropy.h"
#include "calibrate/measure/kernels/norm.h"

namespace stepcast::measure {

EndsShape ends_shape(const StepCase& step, const StepRank& rank) {
  EndsShape s;
  s.rows = std::int64_t{step.micro_batch} * step.sequence;
  s.hidden = step.hidden;
  s.sequence = step.sequence;
  s.words.count = step.vocab / step.tensor;
  s.words.first = s.words.count * rank.tensor;
  s.tensor = step.tensor;
  s.tensor_rank = rank.tensor;
  return s;
}

PoolBlock<bf16> embedding_forward(const Engine& engine, const EndsShape& s, const EmbeddingTensors<const bf16>& w,
                                  const std::int32_t* ids, const std::int32_t* places) {
  PoolBlock<bf16> x = engine.pool.take<bf16>(s.rows * s.hidden);
  embedding_gather(w.words, s.words, ids, x.data(), false, s.rows, s.hidden, engine.stream);
  sum_over_tensor_ranks(engine, s.tensor, x);
  const TablePart positions{0, static_cast<std::int32_t>(s.sequence)};
  embedding_gather(w.positions, positions, places, x.data(), true, s.rows, s.hidden, engine.stream);
  return x;
}

void embedding_backward(const Engine& engine, const EndsShape& s, const EmbeddingTensors<float>& g,
                        const std::int32_t* ids, const std::int32_t* places, const PoolBlock<bf16>& dx) {
  embedding_scatter(dx.data(), ids, g.words, s.words, s.rows, s.hidden, engine.stream);
  const TablePart positions{0, static_cast<std::int32_t>(s.sequence)};
  embedding_scatter(dx.data(), places, g.positions, positions, s.rows, s.hidden, engine.stream);
}

HeadSaved head_forward(const Engine& engine, const EndsShape& s, const HeadTensors<const bf16>& w,
                       const std::int32_t* targets, PoolBlock<bf16> x, float* loss) {
  HeadSaved saved;
  saved.x = std::move(x);
  saved.mean = engine.pool.take<float>(s.rows);
  saved.rstd = engine.pool.take<float>(s.rows);
  saved.norm = engine.pool.take<bf16>(s.rows * s.hidden);
  norm_forward(Norm<bf16>{s.rows, s.hidden, w.norm_gamma, w.norm_beta, saved.mean.data(), saved.rstd.data()},
               saved.x.data(), saved.norm.data(), engine.stream);
  saved.logits = engine.pool.take<bf16>(s.rows * s.words.count);
  linear(engine, saved.norm.data(), w.words, nullptr, saved.logits.data(), s.rows, s.hidden, s.words.count);
  // Of each tensor rank's part of the vocabulary: log of the sum of exponentials of each row, then the targets' logits.
  const std::int64_t stride = 2 * s.rows;
  PoolBlock<float> parts = engine.pool.take<float>(s.tensor * stride);
  float* const own = parts.data() + s.tensor_rank * stride;
  cross_entropy_forward(saved.logits.data(), targets, s.words, own, own + s.rows, s.rows, engine.stream);
  if (s.tensor > 1) engine.peers->all_gather(parts.data(), stride, engine.stream);
  saved.log_sum = engine.pool.take<float>(s.rows);
  cross_entropy_combine(parts.data(), parts.data() + s.rows, s.tensor, stride, saved.log_sum.data(), loss, s.rows,
                        engine.stream);
  return saved;
}

PoolBlock<bf16> head_backward(const Engine& engine, const EndsShape& s, const HeadTensors<const bf16>& w,
                              const HeadTensors<float>& g, const std::int32_t* targets, float scale, HeadSaved saved) {
  bf16* const dlogits = saved.logits.data();
  cross_entropy_backward(dlogits, targets, s.words, saved.log_sum.data(), dlogits, scale, s.rows, engine.stream);
  PoolBlock<bf16> dnorm = engine.pool.take<bf16>(s.rows * s.hidden);
  linear_input_gradient(engine, dlogits, w.words, dnorm.data(), s.rows, s.hidden, s.words.count);
  linear_weight_gradient(engine, saved.norm.data(), dlogits, g.words, s.rows, s.hidden, s.words.count);
  sum_over_tensor_ranks(engine, s.tensor, dnorm);
  PoolBlock<bf16> dx = engine.pool.take<bf16>(s.rows * s.hidden);
  norm_backward<bf16>({s.rows, s.hidden, w.norm_gamma, w.norm_beta, saved.mean.data(), saved.rstd.data()},
                      saved.x.data(), dnorm.data(), nullptr, dx.data(), g.norm_gamma, g.norm_beta, engine.stream);
  return dx;
}

}  // namespace stepcast::measure
