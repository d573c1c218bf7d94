#include "language/hugging_face/not_built.h"

#include <algorithm>
#include <utility>

// By the configuration classes of github.com/huggingface/transformers @008e574 (models/glm_moe_dsa, deepseek_v4,
// gemma4, minimax_m3_vl, step3p7) and of the models' own repositories on the Hub.
namespace stepcast::language {
namespace {

constexpr std::string_view kIndexer = "sparse attention (an indexer chooses which tokens a query sees)";
constexpr std::string_view kHeads = "windowed layers with other heads than those that see all tokens";
constexpr std::string_view kWidths =
    "layers of two head widths, with keys that are values too and caches that layers share";

constexpr std::pair<std::string_view, std::string_view> kNotBuilt[] = {
    {"deepseek_v32", kIndexer},
    {"glm_moe_dsa", kIndexer},
    {"deepseek_v4", "sparse attention over compressed keys and values, and several residual streams"},
    {"minimax_m3", kIndexer},
    {"minimax_m3_text", kIndexer},
    {"minimax_m3_vl_text", kIndexer},
    {"gemma4_text", kWidths},
    {"step3p5", kHeads},
    {"step3p7", kHeads},
    {"step3p7_text", kHeads},
    {"kimi_linear", "Kimi Delta Attention, whose states decay channel by channel"},
    {"nemotron-nas", "layers that differ in heads and inner widths from one to the next (block_configs)"},
};

}  // namespace

std::string_view not_built(std::string_view model_type) {
  const auto* const known =
      std::ranges::find(kNotBuilt, model_type, &std::pair<std::string_view, std::string_view>::first);
  return known == std::end(kNotBuilt) ? std::string_view() : known->second;
}

}  // namespace stepcast::language
