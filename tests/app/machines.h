#pragma once

#include <string>
#include <vector>

#include "app/read/cluster.h"
#include "tests/app/read/fixtures.h"

namespace stepcast::app {

/// Files of configs/nodes.
inline std::vector<std::string> machine_names() { return configs().names("nodes"); }

/// Nodes of a kind, joined by their usual fabric.
inline schedules::ClusterSpec machine(const std::string& name) {
  Library library = configs();
  const Node tree = parse_yaml("node: " + name, "test.yaml");
  Value value;
  value.node = &tree;
  value.library = &library;
  return finish(read_block(cluster_table(), value), value);
}

/// Of a file of configs/software.
inline collectives::Transport transport_of(const std::string& software) {
  return small_with("software: " + software).software.transport;
}

}  // namespace stepcast::app
