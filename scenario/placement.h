#pragma once

#include <cstdint>

namespace stepcast::schedules {

/// Which stage holds which chunk of the model; schedules/pipeline/placement.h says it in full.
enum class Placement : std::uint8_t {
  looping,   ///< stage after stage, and again from the first: chunk c is on stage c mod stages
  v_shape,   ///< down the stages and up again, and so on: chunks s and 2 stages - 1 - s are both on stage s
  opposite,  ///< two copies of the model, one down the stages and one up, with half of the micro-batches each
};

}  // namespace stepcast::schedules
