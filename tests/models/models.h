#pragma once

#include "scenario/model.h"

namespace stepcast::schedules {

/// Jiang et al. 2024, "Mixtral of Experts" (arXiv 2401.04088), table 1.
inline Model mixtral_8x7b() {
  Model m{"mixtral-8x7b", Family::moe, 32, 4096, 32, 8, 14336, 32000, ""};
  m.experts = {.count = 8, .active = 2, .ffn = 14336};
  return m;
}

/// DeepSeek-V2 (arXiv 2405.04434), sec. 3.1.2.
inline Model deepseek_v2() {
  Model m{"deepseek-v2", Family::moe, 60, 5120, 128, 128, 12288, 102400, ""};
  m.experts = {.count = 160, .active = 6, .ffn = 1536, .shared_ffn = 3072, .dense_layers = 1};
  m.latent = {.kv_rank = 512, .query_rank = 1536, .head = 128, .rotary = 64, .value = 128};
  return m;
}

/// DeepSeek-V3 (arXiv 2412.19437), sec. 4.2.
inline Model deepseek_v3() {
  Model m{"deepseek-v3", Family::moe, 61, 7168, 128, 128, 18432, 129280, ""};
  m.experts = {.count = 256, .active = 8, .ffn = 2048, .shared_ffn = 2048, .dense_layers = 3};
  m.latent = {.kv_rank = 512, .query_rank = 1536, .head = 128, .rotary = 64, .value = 128};
  return m;
}

/// A small one whose sizes divide by 16.
inline Model small_experts() {
  Model m{"small experts", Family::moe, 16, 1024, 16, 16, 4096, 51200, ""};
  m.experts = {.count = 32, .active = 4, .ffn = 1024, .shared_ffn = 1024};
  return m;
}

}  // namespace stepcast::schedules
