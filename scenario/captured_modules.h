#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stepcast::schedules {

/// What of each layer is captured in CUDA graphs, of Megatron-Core's --cuda-graph-scope.
struct CapturedModules {
  bool attention = false;     ///< attn: with its norm
  bool router = false;        ///< moe_router: with its norm and shared experts
  bool counts = false;        ///< moe_preprocess: how many copies each expert gets
  bool feed_forward = false;  ///< mlp: norm and feed-forward block of a layer without experts
  bool mamba = false;         ///< mamba: state-space mixers, with their norm
};

struct CapturedModule {
  std::string_view name;  ///< as Megatron-Core has it
  bool CapturedModules::*member;
};

inline constexpr std::array kCapturedModules{
    CapturedModule{"attn", &CapturedModules::attention}, CapturedModule{"moe_router", &CapturedModules::router},
    CapturedModule{"moe_preprocess", &CapturedModules::counts}, CapturedModule{"mlp", &CapturedModules::feed_forward},
    CapturedModule{"mamba", &CapturedModules::mamba}};

inline bool any(const CapturedModules& modules) {
  return std::ranges::any_of(kCapturedModules, [&](const CapturedModule& module) { return modules.*module.member; });
}

}  // namespace stepcast::schedules
