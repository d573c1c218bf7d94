#include "language/chakra/attributes.h"

#include <limits>

namespace stepcast::language {

Time duration_of(const CheckedTraces& traces, NodePlace at) {
  constexpr std::uint64_t kPicosecondsPerMicro = 1'000'000,
                          kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 4096;
  const std::optional<std::uint64_t> exact = traces.number(at, kDurationAttribute);
  const std::uint64_t micros = traces.node(at).duration_micros;
  if (exact ? *exact > kMost : micros > kMost / kPicosecondsPerMicro)
    traces.fail(at, exact ? kDurationAttribute : "duration_micros",
                "found " + std::to_string(exact.value_or(micros)) + ", expected at most half an hour");
  return Time{static_cast<std::int64_t>(exact.value_or(micros * kPicosecondsPerMicro))};
}

}  // namespace stepcast::language
