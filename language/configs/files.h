#pragma once

#include "language/core/read_mapping.h"
#include "language/core/schema.h"
#include "scenario/scenario.h"
#include "topology/spec.h"

namespace stepcast::language {

/// The tables of the files of configs/, one each.

struct NodeFile {
  topology::NodeSpec spec;
  schedules::Gpu gpu;
  std::string file;  ///< of another program, which says what the machine is; empty: the keys do
  std::string nccl;  ///< the stack whose transport was fitted on such machines
};

const Table<schedules::Gpu>& gpu_table();
const Table<topology::LinkType>& link_table();
const Table<NodeFile>& node_table();
const Table<topology::FabricSpec>& fabric_table();
const Table<schedules::Software>& software_table();

const Schema& gpu_schema();
const Schema& link_schema();
const Schema& node_schema();
const Schema& fabric_schema();
const Schema& software_schema();

/// The names of schedules::Precision, Attention, Optimizer and Partition, in the order of the enumerations.
Names precision_names();
Names precisions_later();
/// Of training.precision, which may be a low one.
Names training_precision_names();
Names attention_names();
Names optimizer_names();
Names partition_names();
Names reported_memory_names();

/// The GPU of that name in configs/gpus/, read for what stands at `value`.
schedules::Gpu read_gpu_named(const std::string& name, const Value& value);

/// A node as a whole: its keys, and what the file of another program says (language/import/node_import.h).
NodeFile read_node(const Value& value);

/// Whether a block of software says nothing but a transport.
bool is_transport_alone(const Node& software);

/// A link. A network that says nothing of NCCL (`nccl`) has the median of what the networks of its family cost NCCL, or
/// of all networks where it has no family or nobody measured one of it; `nccl: {}` says that it costs the wire alone.
topology::LinkType read_link(const Value& value);

/// The software whose block is `given`. Of its transport, what the block does not say is as in `stack`, the file of
/// configs/software/ whose transport the cluster's machines have.
schedules::Software read_software(const Node& given, const std::string& stack, Library& library);

/// Reads the block that `value` holds.
template <class T>
T read_block(const Table<T>& table, const Value& value) {
  T into{};
  read(table, *value.node, value.path, *value.library, into);
  return into;
}

/// Reads the list of mappings that `list` holds.
template <class T>
std::vector<T> read_list(const Table<T>& table, const Value& list) {
  std::vector<T> all;
  for (const Node& item : list.node->items) {
    T one{};
    read(table, item, list.path + '[' + std::to_string(all.size()) + ']', *list.library, one);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace stepcast::language
