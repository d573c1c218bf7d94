#pragma once

#include <cstdint>

namespace stepcast::schedules {

/// sgd: without momentum. lion: arXiv 2302.06675. adafactor: arXiv 1804.04235 without a first moment, whose second ones
/// are a sum for each row and column of a weight, too few to count.
enum class Optimizer : std::uint8_t { adam, sgd, momentum, lion, adafactor, none };

/// Numbers that an optimizer remembers of each parameter.
constexpr int moments(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adam:
      return 2;
    case Optimizer::momentum:
    case Optimizer::lion:
      return 1;
    default:
      return 0;
  }
}

/// How these are kept. fp8: with one scale for each tensor (Transformer Engine's FusedAdam). int8: with one for each
/// block of 256 (bitsandbytes, arXiv 2110.02861).
enum class MomentPrecision : std::uint8_t { fp32, fp16, bf16, fp8, int8 };

/// Bytes of one.
constexpr double moment_bytes(MomentPrecision precision) {
  constexpr double kScale = 4, kBlock = 256;
  switch (precision) {
    case MomentPrecision::fp32:
      return 4;
    case MomentPrecision::fp8:
      return 1;
    case MomentPrecision::int8:
      return 1 + kScale / kBlock;
    default:
      return 2;
  }
}

}  // namespace stepcast::schedules
