#include "schedules/checks/check_layers.h"

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace stepcast::schedules {
namespace {

/// What a model's variations of its family go with.
void check_variations(const Scenario& s, std::vector<Problem>& out) {
  const Variations& own = s.model.variations;
  const std::int64_t t = s.parallelism.tensor;
  const bool learned = is_decoder(s.model.family) ? layer_style(s.model).positions == Positions::learned
                                                  : s.model.family == Family::bert;
  if (learned && s.model.positions > 0 && s.training.sequence > s.model.positions)
    out.push_back({"training.sequence", "found " + std::to_string(s.training.sequence) +
                                            ", but the model has learned " + std::to_string(s.model.positions) +
                                            " positions (model.positions)"});
  if (own.qk_norm != QueryKeyNorm::none && s.model.latent.kv_rank > 0)
    out.push_back({"model.qk_norm", "found true, beside latent attention, which has norms of its own"});
  for (const auto& [key, said] : {std::pair{"model.experts.dense_layers", s.model.experts.dense_layers > 0},
                                  {"model.experts.every", s.model.experts.every > 1}})
    if (said && !own.pattern.empty()) out.push_back({key, "found beside model.pattern, expected one of them"});
  for (const auto& [key, said] : {std::pair{"model.attention_gate", own.attention_gate},
                                  {"model.qk_norm", own.qk_norm != QueryKeyNorm::none},
                                  {"model.window", own.window > 0}})
    if (said && layers_with(s.model, Mixer::attention) == 0)
      out.push_back({key, "found on a model without attention, expected * in model.pattern with it"});
  if (own.attention_gate && s.model.latent.kv_rank > 0)
    out.push_back({"model.attention_gate", "beside latent attention is not built"});
  if (s.software.expert_loop && s.model.experts.latent > 0)
    out.push_back({"model.experts.latent", "with software.expert_loop is not built; expected grouped multiplies"});
  if (own.embedding_width > 0 && t > 1)
    out.push_back({"model.embedding_width", "with tensor " + std::to_string(t) + " is not built; expected tensor 1"});
  if (own.window > 0 && own.window < s.training.sequence && s.parallelism.context > 1)
    out.push_back({"model.window", std::to_string(own.window) + " below training.sequence " +
                                       std::to_string(s.training.sequence) + ", with context " +
                                       std::to_string(s.parallelism.context) + " is not built; expected context 1"});
  if (s.model.mtp_layers > 0) {
    if (own.embedding_width > 0)
      out.push_back({"model.mtp_layers", "with model.embedding_width is not built; expected one of them"});
    if (is_grid(grid(s.parallelism)) || (t > 1 && tensor_method(s) != TensorMethod::megatron))
      out.push_back({"model.mtp_layers",
                     "with a parallelism.tensor_grid, or a parallelism.tensor_method other than "
                     "megatron, is not built"});
  }
  if (own.parallel_block == ParallelBlock::none) return;
  const std::string key = "model.parallel_block";
  if (!own.pattern.empty()) out.push_back({key, "with model.pattern is not built"});
  if (own.attention_gate) out.push_back({key, "with model.attention_gate is not built"});
  if (s.model.experts.count > 0) out.push_back({key, "with experts is not built"});
  if (own.post_norms) out.push_back({key, "with model.post_norms is not built"});
  if (is_grid(grid(s.parallelism))) out.push_back({key, "with parallelism.tensor_grid is not built"});
  if (t > 1 && tensor_method(s) != TensorMethod::megatron)
    out.push_back({key, "with a parallelism.tensor_method other than megatron is not built"});
  if (s.recomputed_modules && s.recomputed_modules->feed_forward)
    out.push_back({key, "with mlp of recompute.modules is not built: its norm serves attention too"});
}

/// Ranks that can share the heads out: each has as many heads, and as many of keys and values or a copy of one.
bool shares_heads(const Model& m, std::int64_t ranks) {
  return m.heads % ranks == 0 && (kv_heads(m) % ranks == 0 || ranks % kv_heads(m) == 0);
}

/// Numbers of ranks next to `ranks` that can, "4 or 8".
std::string nearest_head_ranks(const Model& m, std::int64_t ranks) {
  std::int64_t less = ranks - 1, more = ranks + 1;
  while (!shares_heads(m, less)) --less;  // 1 does
  while (more <= m.heads && !shares_heads(m, more)) ++more;
  return std::to_string(less) + (more <= m.heads ? " or " + std::to_string(more) : "");
}

void check_model(const Scenario& s, std::vector<Problem>& out) {
  const Model& m = s.model;
  const std::int64_t t = grid(s.parallelism).columns;
  if (m.head_width == 0 && m.latent.kv_rank == 0 && m.hidden % m.heads != 0)
    out.push_back({"model.heads",
                   "hidden " + std::to_string(m.hidden) + " is not a multiple of heads " + std::to_string(m.heads)});
  if (m.kv_heads > m.heads || m.heads % m.kv_heads != 0)
    out.push_back({"model.kv_heads", "heads " + std::to_string(m.heads) + " is not a multiple of kv_heads " +
                                         std::to_string(m.kv_heads)});
  const bool attends = layers_with(m, Mixer::attention) > 0;
  if (out.empty() && t > 1) {
    const std::pair<std::string_view, std::int64_t> sizes[] = {
        {"heads", attends ? m.heads : 0},
        {"ffn", layers_with(m, FeedForward::dense) > 0 ? m.ffn : 0},
        {"experts.shared_ffn", m.experts.shared_ffn}};
    for (const auto& [what, size] : sizes)
      if (size % t != 0) {
        out.push_back({"parallelism.tensor", "tensor " + std::to_string(t) + " does not divide model." +
                                                 std::string(what) + " " + std::to_string(size)});
        break;
      }
    if (out.empty() && attends && !shares_heads(m, t))
      out.push_back({"parallelism.tensor", "tensor " + std::to_string(t) + " neither divides model.kv_heads " +
                                               std::to_string(m.kv_heads) +
                                               " nor is a multiple of it; nearest: " + nearest_head_ranks(m, t)});
    const std::int64_t tokens = m.family == Family::vit ? patches(m) + 1 : s.training.sequence;
    if (s.parallelism.sequence && tokens % t != 0)
      out.push_back(
          {"parallelism.sequence", "tensor " + std::to_string(t) + " does not divide " +
                                       (m.family == Family::vit ? "the tokens of an image, " : "training.sequence ") +
                                       std::to_string(tokens)});
    if (s.parallelism.sequence && s.training.decoder_sequence % t != 0)
      out.push_back({"parallelism.sequence", "tensor " + std::to_string(t) +
                                                 " does not divide training.decoder_sequence " +
                                                 std::to_string(s.training.decoder_sequence)});
  }
}

/// Heads of state-space layers and of linear attention, which tensor and context ranks share.
void check_mixers(const Scenario& s, std::vector<Problem>& out) {
  const Model& m = s.model;
  const std::int64_t t = s.parallelism.tensor, c = s.parallelism.context, ranks = t * c;
  const bool mamba = layers_with(m, Mixer::mamba) > 0, delta = layers_with(m, Mixer::delta_net) > 0;
  if (!mamba && !delta) return;
  if (is_grid(grid(s.parallelism)) || (t > 1 && tensor_method(s) != TensorMethod::megatron))
    out.push_back({"model.pattern",
                   "of M or G with a parallelism.tensor_grid, or a parallelism.tensor_method other than megatron, is "
                   "not built"});
  constexpr std::uint32_t kFewest = 16;  // multiprocessors of a GPU; a TPU has fewer matrix units
  if (s.cluster.gpu.sms < kFewest)
    out.push_back({"model.pattern", "M and G have kernels of GPUs' multiprocessors, which " + s.cluster.gpu.name +
                                        " has not; expected attention in all layers"});
  const auto shares = [&](bool has, const char* key, std::int64_t heads) {
    if (has && heads % ranks != 0)
      out.push_back({key, std::to_string(heads) + " is no multiple of tensor " + std::to_string(t) +
                              (c > 1 ? " x context " + std::to_string(c) : "") + ", whose ranks share them"});
  };
  shares(mamba, "model.mamba.heads", m.mamba.heads);
  shares(delta, "model.delta_net.heads", m.delta_net.heads);
  if (mamba && m.mamba.heads % m.mamba.groups != 0)
    out.push_back({"model.mamba.groups", "heads " + std::to_string(m.mamba.heads) + " is no multiple of groups " +
                                             std::to_string(m.mamba.groups)});
  if (delta && m.delta_net.heads % m.delta_net.key_heads != 0)
    out.push_back({"model.delta_net.key_heads", "heads " + std::to_string(m.delta_net.heads) +
                                                    " is no multiple of key_heads " +
                                                    std::to_string(m.delta_net.key_heads)});
  // Each tensor rank has whole groups, of which context ranks share some or have copies.
  for (const auto& [has, key, groups] : {std::tuple{mamba, "model.mamba.groups", m.mamba.groups},
                                         {delta, "model.delta_net.key_heads", m.delta_net.key_heads}})
    if (has && (groups % t != 0 || (groups / t % c != 0 && c % (groups / t) != 0)))
      out.push_back({key, std::to_string(groups) + " is no multiple of tensor " + std::to_string(t) +
                              (c > 1 ? ", or what each of its ranks has neither of context " + std::to_string(c) +
                                           " nor a divisor of it"
                                     : "")});
}

}  // namespace

void check_layers(const Scenario& s, std::vector<Problem>& out) {
  check_model(s, out);
  check_mixers(s, out);
  check_variations(s, out);
}

}  // namespace stepcast::schedules
