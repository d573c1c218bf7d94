#include "schedules/checks/check_adapters.h"

#include <string>

namespace stepcast::schedules {
namespace {

void check_targets(const Scenario& s, std::vector<Problem>& out) {
  const LoraTargets& to = s.training.lora.targets;
  const char* key = "training.lora.target_modules";
  const bool parts_of_heads = to.queries || to.keys || to.values;
  if (s.model.latent.kv_rank > 0 && (to.query_key_value || parts_of_heads))
    out.push_back({key,
                   "adapters of latent attention's projections are not built; expected linear_proj, linear_fc1, "
                   "linear_fc2, o_proj, gate_proj, up_proj or down_proj"});
  if (to.query_key_value && parts_of_heads)
    out.push_back({key, "found linear_qkv beside q_proj, k_proj or v_proj, which are parts of it"});
  if (to.feed_forward_in && (to.gate || to.up))
    out.push_back({key, "found linear_fc1 beside gate_proj or up_proj, which are parts of it"});
  if (to.gate && !is_gated(layer_style(s.model).activation))
    out.push_back({key, "found gate_proj, but this model's feed-forward blocks have no gate; expected up_proj"});
}

/// Whether any layer has a linear layer of the targets'.
bool has_targets(const Model& m, const LoraTargets& to) {
  const bool attends = layers_with(m, Mixer::attention) > 0,
             scans = layers_with(m, Mixer::mamba) + layers_with(m, Mixer::delta_net) > 0,
             feeds = layers_with(m, FeedForward::dense) + layers_with(m, FeedForward::experts) > 0;
  return (attends && (to.query_key_value || to.queries || to.keys || to.values || to.projection)) ||
         (scans && (to.mixer_in || to.mixer_out)) ||
         (feeds && (to.feed_forward_in || to.gate || to.up || to.feed_forward_out));
}

void check_base_weights(const Scenario& s, std::vector<Problem>& out) {
  if (s.training.lora.base == BaseWeights::cast) {
    const char* key = "training.lora.base_weights";
    if (!is_low_precision(s.training.precision))
      out.push_back({key, "found cast with training.precision " + std::string(name(s.training.precision)) +
                              ", which casts nothing; expected as-trained"});
    if (s.data_parallel.zero == 3)
      out.push_back({key, "found cast with data_parallel.zero 3, which is not built; expected as-trained"});
  }
  if (!keeps_four_bits(s.training)) return;
  const std::string found = "found " + std::string(name(s.training.lora.base)) + " with ";
  const char* key = "training.lora.base_weights";
  if (is_low_precision(s.training.precision))
    out.push_back({key, found + "training.precision " + std::string(name(s.training.precision)) + "; expected bf16"});
  if (s.parallelism.tensor > 1)
    out.push_back({key, found + "parallelism.tensor " + std::to_string(s.parallelism.tensor) +
                            ", but bitsandbytes' weights are not cut; expected as-trained"});
}

}  // namespace

void check_adapters(const Scenario& s, std::vector<Problem>& out) {
  if (!trains_adapters(s.training)) return;
  const std::int64_t rank = s.training.lora.rank;
  const char* key = "training.lora.rank";
  const auto is_not_built = [&](const std::string& with) {
    out.push_back({key, "adapters " + with + " are not built"});
  };
  if (!is_decoder(s.model.family)) return is_not_built("of other models than decoders");
  if (s.model.mtp_layers > 0) is_not_built("with model.mtp_layers");
  if (s.parallelism.tensor_grid || tensor_method(s) != TensorMethod::megatron)
    is_not_built("with another parallelism.tensor_method than megatron");
  if (s.training.scaling == Scaling::rowwise) is_not_built("with training.scaling rowwise");
  if (s.model.experts.count > 0 && s.parallelism.expert_tensor > 1)
    is_not_built("of experts that parallelism.expert_tensor " + std::to_string(s.parallelism.expert_tensor) +
                 " ranks share");
  if (rank % s.parallelism.tensor != 0)
    out.push_back({key, "rank " + std::to_string(rank) + " is not shared out evenly by parallelism.tensor " +
                            std::to_string(s.parallelism.tensor)});
  if (s.training.frozen_layers > 0)
    out.push_back(
        {"training.frozen_layers", "found " + std::to_string(s.training.frozen_layers) +
                                       " with training.lora.rank, which freezes all of the model; expected 0"});
  if (!has_targets(s.model, s.training.lora.targets))
    out.push_back({"training.lora.target_modules",
                   "found linear layers that none of the model's layers has: nothing is trained"});
  check_targets(s, out);
  check_base_weights(s, out);
}

}  // namespace stepcast::schedules
