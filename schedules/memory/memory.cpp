#include "schedules/memory/memory.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

Bytes bytes(double n) { return {static_cast<std::int64_t>(n)}; }

bool keeps_master_copy(const Scenario& s) { return element_bytes(s.training.precision) == 2; }

double optimizer_bytes(const Scenario& s) {
  const double master = keeps_master_copy(s) ? 4 : 0;
  switch (s.training.optimizer) {
    case Optimizer::adam:
      return master + 8;
    case Optimizer::momentum:
      return master + 4;
    case Optimizer::sgd:
      return master;
    case Optimizer::none:
      return 0;
  }
  return 0;
}

/// Attention core's saved tensors per rank that selective recomputation drops: softmax, dropout mask, dropout output.
double core_bytes(const Scenario& s) {
  if (attention(s) == Attention::flash) return 0;
  const double e = d(element_bytes(s.training.precision));
  const double scores = d(s.training.micro_batch) * d(s.model.heads) / s.parallelism.tensor * d(s.training.sequence) *
                        d(s.training.sequence);
  return s.model.family == Family::gpt ? scores * (2 * e + 1) : scores * e;
}

}  // namespace

double saved_activation_bytes(const Scenario& s, Recompute recompute) {
  const double e = d(element_bytes(s.training.precision)), t = s.parallelism.tensor;
  const double whole = d(s.training.micro_batch) * d(s.training.sequence) * d(s.model.hidden);
  const double residual = s.parallelism.sequence ? whole / t : whole;
  if (recompute == Recompute::full) return residual * e;

  const Model& m = s.model;
  const double tokens = d(s.training.micro_batch) * d(s.training.sequence);
  const double kv = whole * d(m.kv_heads) / d(m.heads);
  const double inner = tokens * d(m.ffn);
  const bool gpt = m.family == Family::gpt;

  const double norms = 2 * residual * e;                // inputs of both norms
  const double linear_inputs = 2 * residual * e;        // of the qkv and the first feed-forward multiply
  const double dropout_masks = gpt ? 2 * residual : 0;  // after attention and after the feed-forward
  const double queries_keys_values = (whole + 2 * kv) / t * e;
  const double projection_input = whole / t * e;
  const double feed_forward = (gpt ? 2 : 3) * inner / t * e;  // gelu: in and out; SwiGLU: gate, up and product
  const double statistics = attention(s) == Attention::flash ? tokens * d(m.heads) / t * 4 : 0;
  const double core = recompute == Recompute::selective ? 0 : core_bytes(s);
  return norms + linear_inputs + dropout_masks + queries_keys_values + projection_input + feed_forward + statistics +
         core;
}

double stage_parameters(const Scenario& s, const StageShape& stage) {
  const Model& m = s.model;
  const double t = s.parallelism.tensor, h = d(m.hidden);
  // A layer's norms and the biases added after a row-split multiply stand on every tensor rank.
  const double whole = m.family == Family::llama ? 2 * h : 4 * h + 2 * h;
  double n = d(stage.layers) * ((layer_parameters(m) - whole) / t + whole);
  if (stage.embedding) {
    const double words = d(m.vocab) * h;
    n += d(vocab_rows(m, s.parallelism.tensor)) * h + (embedding_parameters(m, s.training.sequence) - words);
  }
  if (stage.head) {
    const double norm = m.family == Family::llama ? h : 2 * h;
    const double matrix = d(vocab_rows(m, s.parallelism.tensor)) * h;
    // A tied head on another stage than the embedding keeps its own copy of the matrix.
    n += norm + (tied_embeddings(m) && stage.embedding ? 0 : matrix);
  }
  return n;
}

MemoryUse stage_memory(const Scenario& s, const StageShape& stage) {
  const double n = stage_parameters(s, stage), ranks = s.parallelism.data;
  const double e = d(element_bytes(s.training.precision)), g = d(element_bytes(s.software.main_gradient_precision));
  const int zero = s.data_parallel.zero;
  MemoryUse use;
  use.parameters = bytes(n * e / (zero >= 3 ? ranks : 1));
  use.gradients = bytes(n * g / (zero >= 2 ? ranks : 1));
  use.optimizer = bytes(n * optimizer_bytes(s) / (zero >= 1 ? ranks : 1));
  use.reserve = s.software.memory_reserve;

  const std::int64_t layers_per_chunk = stage.layers / s.pipeline.virtual_stages;
  const double saved = saved_activation_bytes(s, s.recompute) * d(layers_per_chunk) * stage.in_flight;
  double working = 0;  // what recomputation brings back while one layer is in its backward pass
  if (s.recompute == Recompute::full) working = saved_activation_bytes(s, Recompute::none);
  if (s.recompute == Recompute::selective) working = core_bytes(s);
  const double tokens = d(s.training.micro_batch) * d(s.training.sequence);
  const double residual = tokens * d(s.model.hidden) / (s.parallelism.sequence ? s.parallelism.tensor : 1);
  double ends = 0;
  if (stage.embedding && s.model.family == Family::gpt) ends += residual * stage.in_flight;  // dropout mask
  if (stage.head) {
    const double logits = tokens * d(vocab_rows(s.model, s.parallelism.tensor));
    ends += 2 * residual * e + logits * (e + 4);  // norm's input and output; logits, and in fp32 for the loss
  }
  use.activations = bytes(saved + working + ends);

  double buffers = 0;
  if (zero >= 3)
    buffers += 2 * layer_parameters(s.model) / s.parallelism.tensor * e;  // the layer at work and the next one
  if (s.parallelism.data > 1 && zero > 0) buffers += static_cast<double>(bucket(s).value);
  if (s.parallelism.pipeline > 1) buffers += 2 * residual * e;  // one activation and one gradient in transfer
  use.buffers = bytes(buffers);
  return use;
}

std::optional<OutOfMemory> out_of_memory(const Scenario& s, std::uint32_t stage, const MemoryUse& use) {
  const Bytes available = s.cluster.gpu.memory;
  if (use.peak() <= available) return std::nullopt;
  const std::array<std::pair<const char*, Bytes>, 6> kinds{{{"parameters", use.parameters},
                                                            {"gradients", use.gradients},
                                                            {"optimizer state", use.optimizer},
                                                            {"activations", use.activations},
                                                            {"buffers", use.buffers},
                                                            {"reserve", use.reserve}}};
  const auto largest =
      std::max_element(kinds.begin(), kinds.end(), [](auto& a, auto& b) { return a.second < b.second; });
  OutOfMemory out{stage, use.peak(), available, std::string(largest->first) + " " + text(largest->second), ""};
  const Bytes over = use.peak() - available;
  if (use.activations > over && s.recompute != Recompute::full)
    out.advice = s.recompute == Recompute::none ? "recompute: selective or full" : "recompute: full";
  else if (use.optimizer > over && s.data_parallel.zero < 1 && s.parallelism.data > 1)
    out.advice = "data_parallel.zero: 1";
  else if (s.data_parallel.zero < 3 && s.parallelism.data > 1 && s.parallelism.pipeline == 1)
    out.advice = "data_parallel.zero: 3";
  else if (use.activations > over && s.training.micro_batch > 1)
    out.advice = "a smaller training.micro_batch";
  else
    out.advice = "more tensor or pipeline ranks, or GPUs with more memory";
  return out;
}

}  // namespace stepcast::schedules
