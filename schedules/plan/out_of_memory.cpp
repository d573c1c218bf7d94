#include "schedules/plan/out_of_memory.h"

#include <algorithm>
#include <string>

#include "schedules/results/memory_kinds.h"
#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

/// `of`: the bytes of each kind of memory.
template <class BytesOf>
OutOfMemory over(std::uint32_t stage, Bytes needed, Bytes available, Tier tier, const BytesOf& of) {
  const MemoryKind& most = *std::ranges::max_element(kMemoryKinds, {}, of);
  return OutOfMemory{stage, needed, available, most.words, of(most), tier};
}

}  // namespace

std::optional<OutOfMemory> out_of_memory(const Scenario& s, std::uint32_t stage, const MemoryUse& use) {
  const Bytes available = s.cluster.gpu.memory, needed = use.peak();
  if (needed <= available) return std::nullopt;
  return over(stage, needed, available, Tier::gpu, [&](const MemoryKind& kind) { return use.*kind.on_gpu; });
}

std::optional<OutOfMemory> out_of_memory(std::uint32_t stage, Tier tier, const Offloaded& use, Bytes available) {
  const Bytes needed = use.sum();
  if (needed <= available) return std::nullopt;
  return over(stage, needed, available, tier,
              [&](const MemoryKind& kind) { return kind.offloaded == nullptr ? Bytes{} : use.*kind.offloaded; });
}

std::string largest_in_words(const OutOfMemory& over) {
  return std::string(over.largest) + " " + text(over.of_largest);
}

}  // namespace stepcast::schedules
