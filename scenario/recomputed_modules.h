#pragma once

#include <array>
#include <string_view>

namespace stepcast::schedules {

/// What selective recomputation repeats of a layer, of Megatron-Core's --recompute-modules.
struct RecomputedModules {
  bool attention_core = false;      ///< core_attn: between the projections
  bool latent_ups = false;          ///< mla_up_proj: norms and projections from the low ranks up, rotary positions
  bool feed_forward = false;        ///< mlp: norm and feed-forward block of a layer without experts
  bool experts_activation = false;  ///< moe_act: between the experts' two multiplies
};

struct RecomputedModule {
  std::string_view name;  ///< as Megatron-Core has it
  bool RecomputedModules::*member;
};

inline constexpr std::array kRecomputedModules{RecomputedModule{"core_attn", &RecomputedModules::attention_core},
                                               RecomputedModule{"mla_up_proj", &RecomputedModules::latent_ups},
                                               RecomputedModule{"mlp", &RecomputedModules::feed_forward},
                                               RecomputedModule{"moe_act", &RecomputedModules::experts_activation}};

}  // namespace stepcast::schedules
