#pragma once

#include <optional>
#include <string_view>

#include "topology/spec.h"

namespace stepcast::topology {

/// The field's link type; throws InputError "builder 'nvswitch' needs 'nvlink', a file of configs/links/" without one,
/// and for a type that carries nothing.
const LinkType& need(const NodeSpec& node, std::string_view field, const std::optional<LinkType>& type);

/// Throws InputError unless bandwidth > 0, 0 < efficiency <= 1, 0 < nccl.share <= 1, likewise nccl.ll_share, and
/// latency >= 0.
void check(const NodeSpec& node, const LinkType& type);

}  // namespace stepcast::topology
