#include "schedules/memory/out_of_memory.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "schedules/data_parallel/groups.h"
#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

using Kind = std::pair<const char*, Bytes>;

/// "activations 51.2 GiB"
std::string largest(std::initializer_list<Kind> kinds) {
  const Kind& most = *std::ranges::max_element(kinds, {}, &Kind::second);
  return std::string(most.first) + " " + text(most.second);
}

/// Recomputation or a sharded state, where either makes room for `over`; else nothing.
std::string cheapest_advice(const Scenario& s, Bytes activations, Bytes optimizer, Bytes over) {
  if (activations > over && s.recompute != Recompute::full)
    return s.recompute == Recompute::none ? "recompute: selective or full" : "recompute: full";
  if (optimizer > over && s.data_parallel.zero < 1 && weight_copies(s.parallelism) > 1) return "data_parallel.zero: 1";
  return "";
}

/// Whether parameters that data ranks hold alike could be shared out.
bool can_share_parameters(const Scenario& s) {
  return s.data_parallel.zero < 3 && weight_copies(s.parallelism) > 1 && s.parallelism.pipeline == 1;
}

std::string advice(const Scenario& s, const MemoryUse& use, Bytes over) {
  if (std::string first = cheapest_advice(s, use.activations, use.optimizer, over); !first.empty()) return first;
  if (can_share_parameters(s)) return "data_parallel.zero: 3";
  if (use.activations > over && s.training.micro_batch > 1) return "a smaller training.micro_batch";
  return "more tensor or pipeline ranks, or GPUs with more memory";
}

std::string advice(const Scenario& s, Tier tier, const Offloaded& use, Bytes over) {
  if (std::string first = cheapest_advice(s, use.activations, use.optimizer, over); !first.empty()) return first;
  if (use.parameters > over && can_share_parameters(s)) return "data_parallel.zero: 3";
  if (tier == Tier::host && use.optimizer > over) return "offload.optimizer: nvme";
  return tier == Tier::host ? "more nodes, or nodes with more host memory" : "more nodes, or nodes with more drives";
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
  return OutOfMemory{stage, use.peak(), available, most, advice(s, use, use.peak() - available), Tier::gpu};
}

std::optional<OutOfMemory> out_of_memory(const Scenario& s, std::uint32_t stage, Tier tier, const Offloaded& use,
                                         Bytes available) {
  if (use.sum() <= available) return std::nullopt;
  const std::string most = largest({{"parameters", use.parameters},
                                    {"gradients", use.gradients},
                                    {"optimizer state", use.optimizer},
                                    {"activations", use.activations}});
  return OutOfMemory{stage, use.sum(), available, most, advice(s, tier, use, use.sum() - available), tier};
}

}  // namespace stepcast::schedules
