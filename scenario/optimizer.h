#pragma once

#include <cstdint>

namespace stepcast::schedules {

enum class Optimizer : std::uint8_t { adam, sgd, momentum, none };

/// What an optimizer remembers of each parameter: numbers, of Software::moment_precision.
constexpr int moments(Optimizer optimizer) {
  return optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::momentum ? 1 : 0;
}

}  // namespace stepcast::schedules
