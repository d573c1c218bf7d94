#pragma once

#include <cstdint>

namespace stepcast::topology {

enum class GpuId : std::uint32_t {};  ///< GPUs in use, node by node; without an allocation node * gpus_per_node + index
enum class LinkId : std::uint32_t {};  ///< one direction of one link (parallel links of one kind are one, wider)

constexpr std::uint32_t index(GpuId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(LinkId id) { return static_cast<std::uint32_t>(id); }

}  // namespace stepcast::topology
