#include "calibrate/measure/step/training_rank.h"

#include <cmath>
#include <utility>

#include "calibrate/measure/kernels/stream.h"

namespace stepcast::measure {

TrainingRank::TrainingRank(const StepCase& step, const TrainingConstants& training, int rank, Peers& peers)
    : step_(step),
      training_(training),
      at_(step_rank(step, rank)),
      first_(at_.stage == 0),
      last_(at_.stage + 1 == step.pipeline),
      first_layer_(at_.stage * (step.layers / step.pipeline)),
      layers_(step.layers / step.pipeline),
      engine_{stream_, gemm_, pool_, &peers},
      layer_(layer_shape(step)),
      ends_(ends_shape(step, at_)),
      parameters_(step_parameters(step, at_)),
      values_(pool_.take<bf16>(parameters_.elements)),
      gradients_(pool_.take<float>(parameters_.elements)),
      loss_(pool_.take<float>(1)),
      optimizer_(step.offload ? host_optimizer(pool_, parameters_.elements, training.host_threads)
                              : gpu_optimizer(pool_, parameters_.elements)) {
  find_tensors();
  upload_tokens();
  start();
}

void TrainingRank::find_tensors() {
  const bf16* const w = values_.data();
  float* const g = gradients_.data();
  for (int layer = first_layer_; layer < first_layer_ + layers_; ++layer) {
    layer_weights_.push_back(layer_tensors(parameters_, layer, w));
    layer_gradients_.push_back(layer_tensors(parameters_, layer, g));
  }
  if (first_) {
    const std::int64_t positions = parameters_.offset("positions");
    embedding_weights_ = {w, w + positions};
    embedding_gradients_ = {g, g + positions};
  }
  if (last_) {
    const std::int64_t gamma = parameters_.offset("last norm gamma"), beta = parameters_.offset("last norm beta");
    head_weights_ = {w, w + gamma, w + beta};
    head_gradients_ = {g, g + gamma, g + beta};
  }
}

/// First values, made where the gradients will be.
void TrainingRank::start() {
  const float weight = training_.deviation * std::sqrt(3.0f);  // of a uniform distribution from -weight to weight
  const float residual = weight / std::sqrt(2.0f * static_cast<float>(step_.layers));
  for (const ParameterPart& p : parameters_.parts) {
    float* const to = gradients_.data() + p.offset;
    if (p.start == InitialValues::ones || p.start == InitialValues::zeros) {
      fill_value(to, p.rows * p.columns, p.start == InitialValues::ones ? 1.0f : 0.0f, stream_);
    } else {
      fill_random_part(to, p.rows, p.columns, p.first_row * p.whole_columns + p.first_column, p.whole_columns,
                       p.start == InitialValues::weight ? weight : residual, start_seed(p.name), stream_);
    }
  }
  convert(gradients_.data(), values_.data(), values_.size(), stream_);
  optimizer_->begin(gradients_.data(), stream_);
  stream_.wait();
}

/// Tokens and targets of all micro-batches.
void TrainingRank::upload_tokens() {
  const std::int64_t rows = ends_.rows;
  const auto upload = [&](const std::vector<std::int32_t>& host, PoolBlock<std::int32_t>& to) {
    to = pool_.take<std::int32_t>(static_cast<std::int64_t>(host.size()));
    check_cuda(cudaMemcpyAsync(to.data(), host.data(), to.bytes(), cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    stream_.wait();  // `host` ends
  };
  const auto tokens = [&](bool targets) {
    std::vector<std::int32_t> all;
    for (int m = 0; m < step_.micro_batches; ++m) {
      const std::int64_t index = std::int64_t{at_.data} * step_.micro_batches + m;
      const std::vector<std::int32_t> one = step_tokens(step_, index, targets);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  if (last_) upload(tokens(true), targets_);
  if (!first_) return;
  upload(tokens(false), ids_);
  std::vector<std::int32_t> places(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(step_.sequence));
  upload(places, places_);
}

const std::int32_t* TrainingRank::ids(const PoolBlock<std::int32_t>& all, int micro_batch) const {
  return all.data() + ends_.rows * micro_batch;
}

LayerDropout TrainingRank::dropout(int micro_batch, int layer) const {
  const std::int64_t index = std::int64_t{at_.data} * step_.micro_batches + micro_batch;
  return {{training_.dropout, dropout_seed(steps_, index, layer, 0)},
          {training_.dropout, dropout_seed(steps_, index, layer, 1)}};
}

void TrainingRank::exchange(const StepExchange& e) {
  const std::int64_t elements = ends_.rows * ends_.hidden;
  std::vector<Message> messages;
  const auto send = [&](int micro_batch, int stage, std::map<int, PoolBlock<bf16>>& from) {
    if (micro_batch >= 0) messages.push_back({true, stage, from.at(micro_batch).data(), elements});
  };
  const auto receive = [&](int micro_batch, int stage, std::map<int, PoolBlock<bf16>>& to) {
    if (micro_batch < 0) return;
    to[micro_batch] = pool_.take<bf16>(elements);
    messages.push_back({false, stage, to.at(micro_batch).data(), elements});
  };
  send(e.send_activation, at_.stage + 1, new_activations_);
  send(e.send_gradient, at_.stage - 1, gradient_out_);
  receive(e.receive_activation, at_.stage - 1, activations_);
  receive(e.receive_gradient, at_.stage + 1, gradient_in_);
  if (messages.empty()) return;
  engine_.peers->exchange(messages, stream_);
  new_activations_.erase(e.send_activation);  // who gets the memory next writes it later on the same stream
  gradient_out_.erase(e.send_gradient);
  clock_.mark(&StepPhases::pipeline, stream_);
}

void TrainingRank::forward(int micro_batch) {
  PoolBlock<bf16> x;
  if (first_) {
    x = embedding_forward(engine_, ends_, embedding_weights_, ids(ids_, micro_batch), places_.data());
    clock_.mark(&StepPhases::ends_forward, stream_);
  } else {
    x = std::move(activations_.at(micro_batch));
    activations_.erase(micro_batch);
  }
  MicroBatchState& kept = in_flight_[micro_batch];
  kept.layers.resize(static_cast<std::size_t>(layers_));
  for (int i = 0; i < layers_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    x = layer_forward(engine_, layer_, layer_weights_[at], dropout(micro_batch, first_layer_ + i), std::move(x),
                      kept.layers[at]);
  }
  clock_.mark(&StepPhases::layers_forward, stream_);
  if (!last_) {
    new_activations_[micro_batch] = std::move(x);
    return;
  }
  kept.head = head_forward(engine_, ends_, head_weights_, ids(targets_, micro_batch), std::move(x), loss_.data());
  clock_.mark(&StepPhases::ends_forward, stream_);
}

void TrainingRank::backward(int micro_batch) {
  MicroBatchState kept = std::move(in_flight_.at(micro_batch));
  in_flight_.erase(micro_batch);
  PoolBlock<bf16> dy;
  if (last_) {
    // The loss is the mean over all rows of all micro-batches of all data ranks.
    const double rows = static_cast<double>(ends_.rows) * step_.micro_batches * step_.data;
    dy = head_backward(engine_, ends_, head_weights_, head_gradients_, ids(targets_, micro_batch),
                       static_cast<float>(1 / rows), std::move(kept.head));
    clock_.mark(&StepPhases::ends_backward, stream_);
  } else {
    dy = std::move(gradient_in_.at(micro_batch));
    gradient_in_.erase(micro_batch);
  }
  for (int i = layers_ - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    dy = layer_backward(engine_, layer_, layer_weights_[at], layer_gradients_[at],
                        dropout(micro_batch, first_layer_ + i), std::move(kept.layers[at]), std::move(dy));
  }
  clock_.mark(&StepPhases::layers_backward, stream_);
  if (!first_) {
    gradient_out_[micro_batch] = std::move(dy);
    return;
  }
  embedding_backward(engine_, ends_, embedding_gradients_, ids(ids_, micro_batch), places_.data(), dy);
  clock_.mark(&StepPhases::ends_backward, stream_);
}

void TrainingRank::sum_gradients() {
  const bool tied = step_.pipeline > 1 && parameters_.tied > 0;
  if (tied) engine_.peers->all_reduce(RankGroup::tied, gradients_.data(), parameters_.tied, Number::fp32, stream_);
  if (step_.data > 1)
    engine_.peers->all_reduce(RankGroup::data, gradients_.data(), gradients_.size(), Number::fp32, stream_);
  if (tied || step_.data > 1) clock_.mark(&StepPhases::data, stream_);
}

void TrainingRank::run() {
  clock_.begin(stream_);
  check_cuda(cudaMemsetAsync(gradients_.data(), 0, gradients_.bytes(), stream_), "cudaMemsetAsync");
  check_cuda(cudaMemsetAsync(loss_.data(), 0, loss_.bytes(), stream_), "cudaMemsetAsync");
  clock_.mark(&StepPhases::optimizer, stream_);
  const std::vector<StepPass> passes = one_f_one_b(step_, at_.stage);
  const std::vector<StepExchange> exchanges = step_exchanges(step_, at_.stage);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    exchange(exchanges[i]);
    passes[i].forward ? forward(passes[i].micro_batch) : backward(passes[i].micro_batch);
  }
  exchange(exchanges.back());
  sum_gradients();
  ++steps_;
  Adam adam = training_.adam;
  adam.step = static_cast<int>(steps_);
  optimizer_->step(adam, values_.data(), gradients_.data(), stream_);
  clock_.mark(&StepPhases::optimizer, stream_);
  stream_.wait();
}

void TrainingRank::rehearse() {
  NoPeers nobody;
  Peers* const others = std::exchange(engine_.peers, &nobody);
  run();
  engine_.peers = others;
  steps_ = 0;
  start();
}

double TrainingRank::loss() {
  float sum = 0;
  check_cuda(cudaMemcpyAsync(&sum, loss_.data(), sizeof(sum), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
  stream_.wait();
  return static_cast<double>(sum) / step_.micro_batches;
}

std::vector<bf16> TrainingRank::values() {
  std::vector<bf16> host(static_cast<std::size_t>(values_.size()));
  check_cuda(cudaMemcpyAsync(host.data(), values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync");
  stream_.wait();
  return host;
}

std::vector<float> TrainingRank::gradients() {
  std::vector<float> host(static_cast<std::size_t>(gradients_.size()));
  check_cuda(cudaMemcpyAsync(host.data(), gradients_.data(), gradients_.bytes(), cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync");
  stream_.wait();
  return host;
}

}  // namespace stepcast::measure
