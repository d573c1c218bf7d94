#include "topology/node_builders.h"

#include <array>
#include <string>
#include <vector>

#include "topology/unknown_name.h"

namespace stepcast::topology {

extern const Builder nvswitch_builder;
extern const Builder pcie_builder;
extern const Builder mesh_builder;
extern const Builder torus_builder;
extern const Builder graph_builder;

std::span<const Builder* const> builders() {
  static constexpr std::array list = {&nvswitch_builder, &mesh_builder, &pcie_builder, &torus_builder, &graph_builder};
  return list;
}

const Builder& find_builder(const NodeSpec& node) {
  std::vector<std::string_view> names;
  for (const Builder* builder : builders()) {
    if (builder->name == node.builder) return *builder;
    names.push_back(builder->name);
  }
  throw_unknown_name(node.name, "builder", node.builder, names);
}

}  // namespace stepcast::topology
