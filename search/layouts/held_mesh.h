#pragma once

#include <cstdint>
#include <optional>

#include "search/layouts/mesh.h"

namespace stepcast::search {

/// Which GPUs of a mesh share the samples of a micro-batch, in all operators: those of different rows, all, or none.
enum class SampleAxes : std::uint8_t { none, rows, all };

/// What somebody else chose of a mesh, while the rest is looked for.
struct HeldMesh {
  std::optional<MeshShape> shape{};     ///< of meshes of so many GPUs; none: every one is tried
  std::optional<SampleAxes> samples{};  ///< none: operators may share them in any way
  friend auto operator<=>(const HeldMesh&, const HeldMesh&) = default;
};

}  // namespace stepcast::search
