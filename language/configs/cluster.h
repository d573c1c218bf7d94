#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "language/configs/files.h"
#include "scenario/scenario.h"

namespace stepcast::language {

/// A cluster as written: what may be left out is still open.
struct ClusterDraft {
  NodeFile node;
  std::optional<Node> fabric;  ///< its keys; read once it is known over which usual one they lie
  std::string fabric_file;     ///< that it is named by or starts from; empty: none
  std::optional<std::int64_t> nodes, gpus, nics_per_node;
  std::optional<Bandwidth> nic_bandwidth;
  std::optional<std::string> allocation, nodelist;
  std::optional<schedules::Gpu> other_gpu;
  std::optional<std::int64_t> other_first;
};

const Table<ClusterDraft>& cluster_table();
const Schema& cluster_schema();

/// Whether a cluster's key `fabric` only changes the fabric that its node usually has: it is left out (nullptr), or a
/// mapping that names no fabric and no kind.
bool lies_over_the_usual(const Node* fabric);

/// Applies the overrides, and the node's usual fabric where none is given. Throws InputError where keys contradict.
schedules::ClusterSpec finish(const ClusterDraft& draft, const Value& value);

}  // namespace stepcast::language
