#pragma once

#include <string>

#include "language/core/merge.h"
#include "language/core/yaml.h"
#include "language/scenario.h"
#include "sim/input_error.h"

namespace stepcast::language {

/// A scenario that can run on 8 GPUs; tests lay their own keys over it.
inline constexpr const char* kSmall = R"(
cluster: {node: dgx-a100-80gb, nodes: 1}
model: {family: gpt, layers: 8, hidden: 1024, heads: 16, vocab: 51200}
training: {global_batch: 32, micro_batch: 1, sequence: 1024}
)";

inline Library configs() { return Library(STEPCAST_SOURCE_DIR "/configs"); }

/// kSmall under `keys`, read.
inline schedules::Scenario small_with(const std::string& keys = "name: small") {
  Library library = configs();
  Node tree = parse_yaml(kSmall, "small.yaml");
  merge(scenario_schema(), tree, parse_yaml(keys, "keys.yaml"));
  return read_scenario(tree, library);
}

/// What is said of it; "" where nothing is wrong.
template <class Function>
std::string complaint(Function function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace stepcast::language
