#include "language/frameworks/tables/torchtitan_flavors.h"

#include <array>
#include <string>
#include <utility>

// github.com/pytorch/torchtitan, release v0.2.2 (@73a0e69). Inner widths of llama3 as FeedForward computes them of dim,
// ffn_dim_multiplier and multiple_of. DeepSeek: kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim 64, v_head_dim
// 128.
namespace stepcast::language {
namespace {

constexpr std::array kFlavors{
    Flavor{"llama3", "8B", "llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256},
    Flavor{"llama3", "70B", "llama3-70b", 80, 8192, 64, 8, 128, 28672, 128256},
    Flavor{"llama3", "405B", "llama3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256},
    Flavor{"qwen3", "0.6B", "qwen3-0.6b", 28, 1024, 16, 8, 128, 3072, 151936, true, true},
    Flavor{"qwen3", "1.7B", "qwen3-1.7b", 28, 2048, 16, 8, 128, 6144, 151936, true, true},
    Flavor{"qwen3", "4B", "qwen3-4b", 36, 2560, 32, 8, 128, 9728, 151936, true, true},
    Flavor{"qwen3", "8B", "qwen3-8b", 36, 4096, 32, 8, 128, 12288, 151936, false, true},
    Flavor{"qwen3", "14B", "qwen3-14b", 40, 5120, 40, 8, 128, 17408, 151936, false, true},
    Flavor{"qwen3", "32B", "qwen3-32b", 64, 5120, 64, 8, 128, 25600, 151936, false, true},
    Flavor{"qwen3", "30B-A3B", "qwen3-30b-a3b", 48, 2048, 32, 4, 128, 6144, 151936, false, true, 128, 8, 768},
    Flavor{"qwen3", "235B-A22B", "qwen3-235b-a22b", 94, 4096, 64, 4, 128, 12288, 151936, false, true, 128, 8, 1536},
    Flavor{"deepseek_v3", "16B", "deepseek-v2-lite", 27, 2048, 16, 0, 0, 10944, 102400, false, false, 64, 6, 1408, 2816,
           1},
    Flavor{"deepseek_v3", "236B", "deepseek-v2", 60, 5120, 128, 0, 0, 12288, 102400, false, false, 160, 6, 1536, 3072,
           1, 1536},
    Flavor{"deepseek_v3", "671B", "deepseek-v3", 61, 7168, 128, 0, 0, 18432, 129280, false, false, 256, 8, 2048, 2048,
           3, 1536},
};

}  // namespace

std::span<const Flavor> flavors() { return kFlavors; }

bool has_shape(const Words& words, const Flavor& flavor) {
  const bool latent = flavor.kv_heads == 0, experts = flavor.experts > 0;
  const auto is = [&](std::string_view key, std::string_view value) { return text_of(words, key) == value; };
  const auto size = [&](std::string_view key, std::int64_t value, bool has = true) {
    return is(key, has ? std::to_string(value) : "");
  };
  return size("model.layers", flavor.layers) && size("model.hidden", flavor.hidden) &&
         size("model.heads", flavor.heads) && size("model.kv_heads", flavor.kv_heads, !latent) &&
         size("model.head_width", flavor.head_width, !latent) &&
         // The width of layers without experts says nothing where there are none.
         (size("model.ffn", flavor.ffn) || (experts && flavor.dense_layers == 0)) &&
         size("model.vocab", flavor.vocab) && is("model.tied_head", flavor.tied ? "true" : "false") &&
         is("model.qk_norm", flavor.qk_norm ? "true" : "false") && is("model.qkv_bias", "false") &&
         is("model.biases", "false") && is("model.dropout", "false") && is("model.activation", "swiglu") &&
         is("model.position_encoding", "rotary") && size("model.experts.count", flavor.experts, experts) &&
         size("model.experts.active", flavor.active, experts) &&
         size("model.experts.ffn", flavor.expert_ffn, experts) &&
         size("model.experts.shared_ffn", flavor.shared_ffn, experts) &&
         size("model.experts.dense_layers", flavor.dense_layers, experts) &&
         size("model.latent.kv_rank", 512, latent) && size("model.latent.query_rank", flavor.query_rank, latent) &&
         size("model.latent.head", 128, latent) && size("model.latent.rotary", 64, latent) &&
         size("model.latent.value", 128, latent) && is("model.mtp_layers", "") && is("model.parallel_block", "") &&
         is("model.embedding_norm", "") && is("model.embedding_width", "") && is("model.final_norm", "");
}

}  // namespace stepcast::language
