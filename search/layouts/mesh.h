#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scenario/scenario.h"
#include "workload/machine.h"

namespace stepcast::search {

/// A stage's GPUs seen as rows and columns, of which operators' layouts each use one way to split (Zheng et al. 2022,
/// "Alpa", arXiv 2201.12023, sec. 4.1). GPUs of a row are neighbours.
struct MeshShape {
  std::uint32_t rows = 1, columns = 1;
  std::uint32_t devices() const { return rows * columns; }
  friend auto operator<=>(const MeshShape&, const MeshShape&) = default;
};

/// Devices among which traffic runs: those of a column of the mesh, those of a row, or all.
enum class MeshAxis : std::uint8_t { down_columns, along_rows, all };
inline constexpr std::size_t kMeshAxes = 2;  ///< of a layout, which says each by itself

/// A mesh on the first GPUs of a machine, and what collectives on it take: every group along an axis runs at once.
class Mesh {
 public:
  Mesh(const schedules::Scenario& scenario, const workload::Machine& machine, MeshShape shape);

  MeshShape shape() const { return shape_; }
  std::uint32_t ways(MeshAxis axis) const;
  /// `bytes`: as collectives::Operation counts them.
  Time time(MeshAxis axis, collectives::Operation operation, double bytes) const;

 private:
  const workload::Machine* machine_;
  MeshShape shape_;
  double scale_ = 1;
  std::array<std::vector<collectives::Group>, kMeshAxes + 1> groups_;
};

/// Numbers of GPUs that stages can have, in ascending order: powers of two up to a node that divide it, and divisors of
/// the number of nodes (the same, sec. 5.2, with these in place of all numbers of nodes). Whatever stages add up to the
/// cluster can be laid on it without one that straddles two nodes: of those smaller than a node each size divides the
/// next (the same, theorem 1). None is smaller than a 64th of the cluster.
std::vector<std::uint32_t> stage_sizes(std::uint32_t gpus_per_node, std::uint32_t gpus);

/// The shapes of so many GPUs: one row, and every rectangle of two rows and two columns at least whose rows are not
/// longer than a node.
std::vector<MeshShape> mesh_shapes(std::uint32_t devices, std::uint32_t gpus_per_node);

}  // namespace stepcast::search
