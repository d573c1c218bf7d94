#pragma once

#include <cstdint>
#include <string>

#include "tests/fuzz/scenarios/choices.h"
#include "tests/fuzz/scenarios/mapping.h"

namespace stepcast::test {

/// What a model should be divisible by.
struct ModelParts {
  std::uint64_t tensor = 1, context = 1, chunks = 1;  ///< chunks: model chunks of all stages
  bool shares_heads = false;                          ///< context ranks take heads (Ulysses)
};

/// "gpt", "cnn" ...: one of all families.
std::string random_family(Choices& choose);

bool is_network(const std::string& family);

/// A model of that family, of layers that its chunks can share evenly. `layers` is set to how many (of a network:
/// 1, its layers are not counted here).
Mapping random_model(Choices& choose, const std::string& family, const ModelParts& parts, std::uint64_t& layers);

}  // namespace stepcast::test
