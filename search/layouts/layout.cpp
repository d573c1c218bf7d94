#include "search/layouts/layout.h"

namespace stepcast::search {
namespace {

using collectives::Operation;

/// Among more devices nobody simulates an exchange of all with all (collectives/plan.h): they gather, and cut.
constexpr double kMostExchanging = 1024;

/// One axis, or both together, of a device that has `held` bytes with the axis as it is.
struct Change {
  MeshAxis axis{};
  SharedDimension from{}, to{};
};

bool is_cut(const Change& c) { return c.from == SharedDimension::nothing && c.to != SharedDimension::nothing; }
bool is_gather(const Change& c) { return c.from != SharedDimension::nothing && c.to == SharedDimension::nothing; }

/// What it takes, and what the device has then.
Time change_time(const Mesh& mesh, const Change& c, double& held) {
  const double ways = mesh.ways(c.axis);
  if (c.from == c.to) return {};
  if (is_cut(c)) {
    held /= ways;
    return {};
  }
  if (!is_gather(c) && ways <= kMostExchanging) return mesh.time(c.axis, Operation::all_to_all, held);
  if (!is_gather(c)) return mesh.time(c.axis, Operation::all_gather, held * ways);
  held *= ways;
  return mesh.time(c.axis, Operation::all_gather, held);
}

}  // namespace

Time conversion_time(const Mesh& mesh, const TensorLayout& from, const TensorLayout& to, double bytes) {
  constexpr std::array kAxes = {MeshAxis::down_columns, MeshAxis::along_rows};
  double held = bytes;
  for (std::size_t axis = 0; axis < kMeshAxes; ++axis)
    if (from[axis] != SharedDimension::nothing) held /= mesh.ways(kAxes[axis]);
  if (from[0] == from[1] && to[0] == to[1]) return change_time(mesh, {MeshAxis::all, from[0], to[0]}, held);
  const std::array changes = {Change{kAxes[0], from[0], to[0]}, Change{kAxes[1], from[1], to[1]}};
  Time all{};
  for (const Change& c : changes)
    if (is_cut(c)) all += change_time(mesh, c, held);
  for (const Change& c : changes)
    if (!is_cut(c) && !is_gather(c)) all += change_time(mesh, c, held);
  for (const Change& c : changes)
    if (is_gather(c)) all += change_time(mesh, c, held);
  return all;
}

}  // namespace stepcast::search
