#include "schedules/memory/out_of_memory.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

using Kind = std::pair<const char*, Bytes>;

/// "activations 51.2 GiB"
std::string largest(std::initializer_list<Kind> kinds) {
  const Kind& most = *std::ranges::max_element(kinds, {}, &Kind::second);
  return std::string(most.first) + " " + text(most.second);
}

}  // namespace

std::optional<OutOfMemory> out_of_memory(const Scenario& s, std::uint32_t stage, const MemoryUse& use) {
  const Bytes available = s.cluster.gpu.memory;
  if (use.peak() <= available) return std::nullopt;
  const std::string most = largest({{"parameters", use.parameters},
                                    {"gradients", use.gradients},
                                    {"optimizer state", use.optimizer},
                                    {"activations", use.activations},
                                    {"buffers", use.buffers},
                                    {"reserve", use.reserve}});
  return OutOfMemory{stage, use.peak(), available, most, Tier::gpu};
}

std::optional<OutOfMemory> out_of_memory(std::uint32_t stage, Tier tier, const Offloaded& use, Bytes available) {
  if (use.sum() <= available) return std::nullopt;
  const std::string most = largest({{"parameters", use.parameters},
                                    {"gradients", use.gradients},
                                    {"optimizer state", use.optimizer},
                                    {"activations", use.activations}});
  return OutOfMemory{stage, use.sum(), available, most, tier};
}

}  // namespace stepcast::schedules
