#include "calibrate/measure/host/step_parameters.h"

#include <algorithm>
#include <stdexcept>

namespace stepcast::measure {
namespace {

/// splitmix64's last step (Steele et al. 2014).
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

std::uint64_t joined(std::uint64_t seed, std::uint64_t next) { return mixed(seed + next * 0x9e3779b97f4a7c15u + 1); }

}  // namespace

std::int64_t StepParameters::offset(const std::string& name) const {
  const auto at = std::find_if(parts.begin(), parts.end(), [&](const ParameterPart& p) { return p.name == name; });
  if (at == parts.end()) throw std::logic_error("no parameters called " + name);
  return at->offset;
}

std::string layer_prefix(int layer) { return "layer " + std::to_string(layer) + " "; }

StepParameters step_parameters(const StepCase& step, const StepRank& rank) {
  StepParameters out;
  const std::int64_t h = step.hidden, part = h / step.tensor, inner = 4 * part, t = rank.tensor;
  const bool first = rank.stage == 0, last = rank.stage + 1 == step.pipeline;
  const auto add = [&](const std::string& name, InitialValues start, std::int64_t rows, std::int64_t columns,
                       std::int64_t first_row, std::int64_t first_column, std::int64_t whole_columns) {
    out.parts.push_back({name, start, rows, columns, first_row, first_column, whole_columns, out.elements});
    out.elements += rows * columns;
  };
  const auto rows_split = [&](const std::string& name, std::int64_t rows) {
    add(name, InitialValues::weight, rows, h, t * rows, 0, h);
  };
  const auto columns_split = [&](const std::string& name, std::int64_t columns) {
    add(name, InitialValues::residual_weight, h, columns, 0, t * columns, columns * step.tensor);
  };
  const auto vector = [&](const std::string& name, InitialValues start) { add(name, start, 1, h, 0, 0, h); };
  const auto vector_split = [&](const std::string& name, std::int64_t columns) {
    add(name, InitialValues::zeros, 1, columns, 0, t * columns, columns * step.tensor);
  };

  if (first || last) {
    rows_split("embedding", step.vocab / step.tensor);
    out.tied = out.elements;
  }
  if (first) add("positions", InitialValues::weight, step.sequence, h, 0, 0, h);
  const int layers = step.layers / step.pipeline, begin = rank.stage * layers;
  for (int layer = begin; layer < begin + layers; ++layer) {
    const std::string of = layer_prefix(layer);
    for (const char* what : {"query weight", "key weight", "value weight"}) rows_split(of + what, part);
    columns_split(of + "projection weight", part);
    rows_split(of + "up weight", inner);
    columns_split(of + "down weight", inner);
  }
  for (int layer = begin; layer < begin + layers; ++layer) {
    const std::string of = layer_prefix(layer);
    vector(of + "norm 1 gamma", InitialValues::ones);
    vector(of + "norm 1 beta", InitialValues::zeros);
    for (const char* what : {"query bias", "key bias", "value bias"}) vector_split(of + what, part);
    vector(of + "projection bias", InitialValues::zeros);
    vector(of + "norm 2 gamma", InitialValues::ones);
    vector(of + "norm 2 beta", InitialValues::zeros);
    vector_split(of + "up bias", inner);
    vector(of + "down bias", InitialValues::zeros);
  }
  if (last) {
    vector("last norm gamma", InitialValues::ones);
    vector("last norm beta", InitialValues::zeros);
  }
  return out;
}

std::uint64_t start_seed(const std::string& name) {
  std::uint64_t seed = 0;
  for (const char c : name) seed = joined(seed, static_cast<unsigned char>(c));
  return seed;
}

std::vector<std::int32_t> step_tokens(const StepCase& step, std::int64_t micro_batch, bool targets) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(step.micro_batch) *
                                   static_cast<std::size_t>(step.sequence));
  const std::uint64_t seed = joined(joined(7, static_cast<std::uint64_t>(micro_batch)), targets ? 1 : 0);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int32_t>(joined(seed, i) % static_cast<std::uint64_t>(step.vocab));
  return tokens;
}

std::uint64_t dropout_seed(std::int64_t step, std::int64_t micro_batch, int layer, int half) {
  const std::uint64_t of_pass =
      joined(joined(11, static_cast<std::uint64_t>(step)), static_cast<std::uint64_t>(micro_batch));
  return joined(of_pass, 2 * static_cast<std::uint64_t>(layer) + static_cast<std::uint64_t>(half));
}

}  // namespace stepcast::measure
