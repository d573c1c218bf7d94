#pragma once

#include <array>
#include <cstdint>

#include "search/layouts/mesh.h"

namespace stepcast::search {

/// What of a tensor the devices along an axis of a mesh share: each has its own part of that, or all have the whole.
enum class SharedDimension : std::uint8_t { nothing, samples, tokens, features, experts };
inline constexpr std::array kSharedDimensions = {SharedDimension::nothing, SharedDimension::samples,
                                                 SharedDimension::tokens, SharedDimension::features,
                                                 SharedDimension::experts};

/// Of a tensor on a mesh: along each axis (Zheng et al. 2022, "Alpa", arXiv 2201.12023, sec. 4.1's sharding specs; an
/// axis says what it splits there, a dimension by which axes it is split).
using TensorLayout = std::array<SharedDimension, kMeshAxes>;

/// What it takes to bring a tensor of so many bytes from one layout to another: where an axis comes to share something
/// each device cuts its part out of what it has, where it comes to share something else they exchange parts all to all,
/// and where it comes to share nothing they gather (the same, table 1). Axes that change alike change together, others
/// one after the other, cuts first and gathers last.
Time conversion_time(const Mesh& mesh, const TensorLayout& from, const TensorLayout& to, double bytes);

}  // namespace stepcast::search
