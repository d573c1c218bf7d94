#include "schedules/model/model.h"

namespace stepcast::schedules {

namespace {
double d(std::int64_t n) { return static_cast<double>(n); }
}  // namespace

bool is_network(Family family) { return family == Family::cnn || family == Family::mlp || family == Family::operators; }

double layer_parameters(const Model& model) {
  const double h = d(model.hidden), f = d(model.ffn);
  const double kv = h * d(model.kv_heads) / d(model.heads);
  const double attention = h * (h + 2 * kv) + h * h;
  if (model.family == Family::llama) return attention + 3 * h * f + 2 * h;
  const double biases = (h + 2 * kv) + h + f + h;
  return attention + 2 * h * f + biases + 4 * h;
}

double embedding_parameters(const Model& model, std::int64_t sequence) {
  const double words = d(model.vocab) * d(model.hidden);
  return model.family == Family::llama ? words : words + d(sequence) * d(model.hidden);
}

std::int64_t vocab_rows(const Model& model, std::uint32_t tensor) {
  constexpr std::int64_t kPadding = 128;
  if (model.vocab % tensor == 0) return model.vocab / tensor;
  return (model.vocab + kPadding * tensor - 1) / (kPadding * tensor) * kPadding;
}

bool tied_embeddings(const Model& model) { return model.family == Family::gpt; }

}  // namespace stepcast::schedules
