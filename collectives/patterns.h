#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/plan.h"
#include "sim/units.h"

namespace stepcast::collectives {

/// Flows that all start at once, each from one rank to another, after nothing: a name for users, and a pure function.
struct Pattern {
  std::string_view name, summary, source;
  /// Flows of so many bytes each, a connection for every flow. Requires ranks >= 2.
  CollectivePlan (*flows)(std::uint32_t ranks, Bytes bytes) = nullptr;
};

/// Every pattern, in the order of help and docs. A new one is a file of patterns/ and a line of this list.
std::span<const Pattern* const> patterns();

/// The flows of a table: rank s sends rank d as weights[s * ranks + d], none negative, and the largest of them is of
/// `bytes`. A weight of 0 is no flow.
CollectivePlan flows_of(std::span<const std::int64_t> weights, std::uint32_t ranks, Bytes bytes);

}  // namespace stepcast::collectives
