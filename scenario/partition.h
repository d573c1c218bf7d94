#pragma once

#include <cstdint>

namespace stepcast::schedules {

/// How a model's blocks (the embedding, each layer, the head) are shared out among pipeline stages where the scenario
/// does not say how many layers each gets.
enum class Partition : std::uint8_t {
  layers,       ///< as many layers each; where they do not divide, embedding and head count as one each
  transformer,  ///< consecutive layers, the most of a stage as few as possible: DeepSpeed, type:transformer
  transformer_and_embedding,  ///< the same, embedding and head counted: DeepSpeed, type:transformer|embedding
  parameters,                 ///< the same by parameters: DeepSpeed's own default
  cost                        ///< up to each stage's share of the multiplies: nanotron
};

}  // namespace stepcast::schedules
