#include "search/layouts/mesh.h"

#include <algorithm>
#include <utility>

#include "schedules/parallel/ranks.h"
#include "sim/whole_bytes.h"

namespace stepcast::search {
namespace {

using namespace schedules;

constexpr std::uint32_t kFewestOfCluster = 64;

/// The shape as a plan of tensor and data ranks, whose groups those of its axes are.
Ranks ranks_of(const workload::Machine& machine, std::uint32_t tensor, std::uint32_t data) {
  return Ranks(Parallelism{.tensor = tensor, .data = data}, machine.cluster().gpus_per_node(),
               machine.cluster().fabric_may_block());
}

}  // namespace

Mesh::Mesh(const Scenario& s, const workload::Machine& machine, MeshShape shape)
    : machine_(&machine), shape_(shape), scale_(s.traffic_scale.layers) {
  const Ranks grid = ranks_of(machine, shape.columns, shape.rows), all = ranks_of(machine, shape.devices(), 1);
  groups_ = {grid.data_groups_beside({}), grid.tensor_groups_beside({}), all.tensor_groups_beside({})};
}

std::uint32_t Mesh::ways(MeshAxis axis) const {
  switch (axis) {
    case MeshAxis::down_columns:
      return shape_.rows;
    case MeshAxis::along_rows:
      return shape_.columns;
    case MeshAxis::all:
      break;
  }
  return shape_.devices();
}

Time Mesh::time(MeshAxis axis, collectives::Operation operation, double bytes) const {
  if (ways(axis) == 1 || bytes <= 0) return {};
  const std::vector<collectives::Group>& groups = groups_[static_cast<std::size_t>(axis)];
  const Time alone = machine_->timer().time(operation, whole_bytes(bytes), groups, "library").duration;
  return scale_ == 1 ? alone : from_seconds(to_seconds(alone) * scale_);
}

std::vector<std::uint32_t> stage_sizes(std::uint32_t gpus_per_node, std::uint32_t gpus) {
  const std::uint32_t node = std::min(gpus_per_node, gpus);
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t of_node = 1; of_node < node && node % of_node == 0; of_node *= 2) sizes.push_back(of_node);
  const std::uint32_t nodes = gpus % node == 0 ? gpus / node : 1;
  for (std::uint32_t of_all = 1; of_all < nodes; ++of_all)
    if (nodes % of_all == 0) sizes.push_back(of_all * node);
  sizes.push_back(gpus);
  std::erase_if(sizes, [&](std::uint32_t size) { return size * kFewestOfCluster < gpus; });
  return sizes;
}

std::vector<MeshShape> mesh_shapes(std::uint32_t devices, std::uint32_t gpus_per_node) {
  std::vector<MeshShape> shapes{{1, devices}};
  for (std::uint32_t columns = 2; columns * 2 <= devices && columns <= gpus_per_node; ++columns)
    if (devices % columns == 0 && gpus_per_node % columns == 0) shapes.push_back({devices / columns, columns});
  return shapes;
}

}  // namespace stepcast::search
