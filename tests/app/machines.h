#pragma once

#include <string>
#include <vector>

#include "language/configs/cluster.h"
#include "tests/language/fixtures.h"

namespace stepcast::app {

/// Files of configs/nodes.
inline std::vector<std::string> machine_names() { return language::configs().names("nodes"); }

/// Nodes of a kind, joined by their usual fabric.
inline schedules::ClusterSpec machine(const std::string& name) {
  language::Library library = language::configs();
  const language::Node tree = language::parse_yaml("node: " + name, "test.yaml");
  language::Value value;
  value.node = &tree;
  value.library = &library;
  return language::finish(language::read_block(language::cluster_table(), value), value);
}

/// Of a file of configs/software.
inline collectives::Transport transport_of(const std::string& software) {
  return language::small_with("software: " + software).software.transport;
}

}  // namespace stepcast::app
