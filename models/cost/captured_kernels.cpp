#include "models/cost/captured_kernels.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace stepcast::schedules {
namespace {

/// Whether a kernel of that kind is captured. Nothing: it is of no module by itself.
std::optional<bool> captured(OperatorKind kind, const CapturedModules& modules, bool has_experts) {
  using Kind = OperatorKind;
  const auto within = [&](Kind first, Kind last) { return first <= kind && kind <= last; };
  if (within(Kind::query_key_value, Kind::latent_join)) return modules.attention;
  if (within(Kind::cross_queries, Kind::encoder_output)) return false;
  if (within(Kind::mixer_in, Kind::mixer_out)) return modules.mamba;
  if (within(Kind::experts_input, Kind::expert_choice)) return modules.router;
  if (kind == Kind::expert_counts) return modules.counts;
  if (within(Kind::experts_narrow, Kind::experts_wide)) return false;
  if (kind == Kind::feed_forward_in || kind == Kind::feed_forward_out)  // beside experts those that all tokens share
    return has_experts ? modules.router : modules.feed_forward;
  return std::nullopt;
}

}  // namespace

std::vector<bool> captured_kernels(const Kernels& pass, const CapturedModules& modules) {
  const bool has_experts =
      std::ranges::any_of(pass, [](const Kernel& kernel) { return kind(kernel) == OperatorKind::router; });
  std::vector<bool> out(pass.size());
  std::optional<bool> before;
  for (std::size_t i = 0; i < pass.size(); ++i) {
    const std::optional<bool> own = captured(kind(pass[i]), modules, has_experts);
    if (own && !before) std::fill_n(out.begin(), i, *own);
    if (own) before = own;
    out[i] = before.value_or(false);
  }
  return out;
}

}  // namespace stepcast::schedules
