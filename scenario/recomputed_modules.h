#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stepcast::schedules {

/// What selective recomputation repeats of a layer, of Megatron-Core's --recompute-modules.
struct RecomputedModules {
  bool attention_core = false;      ///< core_attn: between the projections
  bool latent_ups = false;          ///< mla_up_proj: norms and projections from the low ranks up, rotary positions
  bool feed_forward = false;        ///< mlp: norm and feed-forward block of a layer without experts
  bool experts_activation = false;  ///< moe_act: between the experts' two multiplies
  bool norms = false;               ///< layernorm: norms that are no part of the multiply behind them
  bool experts = false;             ///< moe: router, experts and their exchanges, shared experts included
  bool shared_experts = false;      ///< shared_experts: these alone
};

struct RecomputedModule {
  std::string_view name;  ///< as Megatron-Core has it
  bool RecomputedModules::*member;
};

inline constexpr std::array kRecomputedModules{RecomputedModule{"core_attn", &RecomputedModules::attention_core},
                                               RecomputedModule{"mla_up_proj", &RecomputedModules::latent_ups},
                                               RecomputedModule{"mlp", &RecomputedModules::feed_forward},
                                               RecomputedModule{"moe_act", &RecomputedModules::experts_activation},
                                               RecomputedModule{"layernorm", &RecomputedModules::norms},
                                               RecomputedModule{"moe", &RecomputedModules::experts},
                                               RecomputedModule{"shared_experts", &RecomputedModules::shared_experts}};

/// Whether any module is in both.
inline bool overlap(const RecomputedModules& a, const RecomputedModules& b) {
  return std::ranges::any_of(kRecomputedModules,
                             [&](const RecomputedModule& module) { return a.*module.member && b.*module.member; });
}

/// Those that are in either.
inline RecomputedModules united(RecomputedModules a, const RecomputedModules& b) {
  for (const RecomputedModule& module : kRecomputedModules) a.*module.member |= b.*module.member;
  return a;
}

/// Whether there is any beside the attention core, which `recompute: selective` alone means.
inline bool names_more_than_core(RecomputedModules modules) {
  modules.attention_core = false;
  return overlap(modules, modules);
}

}  // namespace stepcast::schedules
