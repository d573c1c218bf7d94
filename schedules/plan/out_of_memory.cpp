#include "schedules/plan/out_of_memory.h"

#include <algorithm>
#include <string>

#include "schedules/results/memory_kinds.h"
#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

/// "activations 51.2 GiB"
template <class BytesOf>
std::string largest(const BytesOf& bytes_of) {
  const MemoryKind& most = *std::ranges::max_element(kMemoryKinds, {}, bytes_of);
  return std::string(most.words) + " " + text(bytes_of(most));
}

}  // namespace

std::optional<OutOfMemory> out_of_memory(const Scenario& s, std::uint32_t stage, const MemoryUse& use) {
  const Bytes available = s.cluster.gpu.memory;
  if (use.peak() <= available) return std::nullopt;
  const std::string most = largest([&](const MemoryKind& kind) { return use.*kind.on_gpu; });
  return OutOfMemory{stage, use.peak(), available, most, Tier::gpu};
}

std::optional<OutOfMemory> out_of_memory(std::uint32_t stage, Tier tier, const Offloaded& use, Bytes available) {
  if (use.sum() <= available) return std::nullopt;
  const std::string most =
      largest([&](const MemoryKind& kind) { return kind.offloaded == nullptr ? Bytes{} : use.*kind.offloaded; });
  return OutOfMemory{stage, use.sum(), available, most, tier};
}

}  // namespace stepcast::schedules
