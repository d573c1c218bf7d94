#include "language/notes.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "language/configs/cluster.h"
#include "language/configs/files.h"
#include "language/configs/model.h"
#include "language/configs/profile.h"
#include "language/configs/usual_stack.h"
#include "topology/fabrics.h"

namespace stepcast::language {
namespace {

using schedules::Note;
using schedules::Scenario;

bool has_base(const Node& block) { return block.find("base") != nullptr || block.find("include") != nullptr; }

void note_fabric(const Node& tree, const Scenario& s, Library& library, std::vector<Note>& out) {
  const Node* written = tree.find("cluster");
  if (written == nullptr || nodes_in_use(s.cluster) < 2) return;
  const Node cluster = library.expand_block(*written, cluster_schema(), "cluster");
  const topology::FabricSpec& fabric = s.cluster.fabric;
  const bool shares = fabric.routing == "adaptive" && topology::has_several_paths(fabric);
  const std::string& usual = s.cluster.node.fabric;
  const Node* said = cluster.find("fabric");
  if (!usual.empty() && lies_over_the_usual(said)) {
    std::string changes;
    if (said != nullptr)
      for (const Entry& entry : said->entries) changes += (changes.empty() ? " but for " : ", ") + entry.key;
    const bool says_routing = said != nullptr && said->find("routing") != nullptr;
    out.push_back(
        {"cluster.fabric", usual + ", the node's usual one" + changes +
                               (shares && !says_routing ? "; routing adaptive, so equal paths share perfectly" : "")});
  } else if (said == nullptr) {
    out.push_back({"cluster.fabric", "one switch without latency, as neither the cluster nor its node names a fabric"});
  } else if (said->kind == Node::Kind::mapping && !has_base(*said)) {
    if (said->find("kind") != nullptr && said->find("routing") == nullptr && shares)
      out.push_back({"cluster.fabric.routing",
                     "adaptive, as the fabric does not say: equal paths share perfectly, with hash (ECMP) flows may "
                     "collide"});
    if (said->find("switch_latency") == nullptr && said->find("cable_latency") == nullptr)
      out.push_back({"cluster.fabric.switch_latency",
                     "0, and so is cable_latency, as the fabric says neither and has no base: messages take no time to "
                     "cross it but that of their bytes"});
  }
}

/// What the scenario itself says of the network where the job is on one node.
void note_network_of_one_node(const Node& tree, const Scenario& s, std::vector<Note>& out) {
  const Node* cluster = tree.find("cluster");
  if (cluster == nullptr || nodes_in_use(s.cluster) > 1) return;
  for (const std::string key : {"nics_per_node", "nic_bandwidth", "fabric"})
    if (cluster->find(key) != nullptr) out.push_back({"cluster." + key, "changes nothing: the job is on one node"});
}

/// The keys of `transport` that the software says itself, or nothing.
std::string own_transport(const Node* software, Library& library) {
  if (software == nullptr) return {};
  const Node expanded = library.expand_block(*software, software_schema(), "software");
  const Node* transport = expanded.find("transport");
  std::string keys;
  if (transport == nullptr) return keys;
  for (const Entry& entry : transport->entries) keys += (keys.empty() ? "" : ", ") + entry.key;
  return keys;
}

/// What a stack of the user's own leaves out of what a framework costs, which is then taken as nothing.
void note_missing_costs(const Node& stack, const std::string& name, std::vector<Note>& out) {
  std::string missing;
  for (const std::string key : {"optimizer_bytes_per_parameter", "elementwise_efficiency", "kernel_gap",
                                "host_per_kernel", "overlap_slowdown", "memory_reserve"})
    if (stack.find(key) == nullptr) missing += (missing.empty() ? "" : ", ") + key;
  if (!missing.empty())
    out.push_back({"software", name + " says nothing of " + missing +
                                   ": they cost nothing; a base, such as megatron-core, has them"});
}

/// Between the nodes lies a network of which nobody says what NCCL costs on it.
bool over_assumed_network(const Scenario& s) {
  const std::optional<topology::LinkType>& nic = s.cluster.node.nic;
  return nodes_in_use(s.cluster) > 1 && nic && !nic->nccl_assumed.empty() && s.software.transport.network_of_links;
}

void note_software(const Node& tree, const Scenario& s, Library& library, std::vector<Note>& out) {
  const Node* written = tree.find("software");
  const bool named = written != nullptr && (written->kind == Node::Kind::scalar || has_base(*written));
  if (!named)
    out.push_back({"software",
                   s.software.name +
                       ", as none is named: " + (attention(s) == schedules::Attention::flash ? "flash" : "unfused") +
                       " attention, data-parallel traffic " + (data_overlap(s) ? "under backward" : "after backward")});
  const Node whole = named ? library.expand_block(*written, software_schema(), "software") : Node();
  const bool alone = named && is_transport_alone(whole);
  if (alone)
    out.push_back({"software", s.software.name + " is a transport alone: a framework's launches, gaps and memory are "
                                                 "taken as none; megatron-core and its like have them"});
  if (named && !alone) note_missing_costs(whole, s.software.name, out);
  if (s.cluster.gpus < 2) return;
  const std::string& stack = s.software.transport_stack;
  const std::string& assumed = s.cluster.nccl_assumed;
  const std::string fitted =
      stack + "'s, " +
      (alone             ? "as software names it"
       : assumed.empty() ? fitted_on(s.cluster.gpu.name, s.cluster.gpu.compute_capability, !over_assumed_network(s))
                         : assumed);
  const std::string own = alone ? "" : own_transport(written, library);
  out.push_back({"software.transport", own.empty() ? fitted : fitted + "; the software's own: " + own});
}

void note_nic(const Scenario& s, std::vector<Note>& out) {
  if (!over_assumed_network(s)) return;
  out.push_back({"cluster.node.nic.nccl", s.cluster.node.nic->nccl_assumed + "; nccl: {} has the wire alone"});
}

/// A topology file of NCCL that clouds hand out names GPUs as PCIe devices alone, since NCCL looks for NVLinks itself.
void note_imported_node(const Node& tree, const Scenario& s, Library& library, std::vector<Note>& out) {
  const Node* written = tree.find("cluster");
  if (written == nullptr || s.cluster.node.gpus < 2) return;
  const Node cluster = library.expand_block(*written, cluster_schema(), "cluster");
  const Node* const name = cluster.find("node");
  if (name == nullptr) return;
  const Node node = library.expand_block(*name, node_schema(), "cluster.node");
  const Node* const file = node.find("file");
  if (file == nullptr || !file->scalar.ends_with(".xml")) return;
  const auto is_nvlink = [](const topology::GraphLink& link) { return link.type.kind == topology::LinkKind::nvlink; };
  if (std::ranges::none_of(s.cluster.node.links, is_nvlink))
    out.push_back({"cluster.node.nvlink",
                   "the file has no NVLinks, so its GPUs are joined by PCIe alone; where the machine has some, which "
                   "NCCL finds there itself, say nvlink and nvlinks_per_gpu beside file"});
}

/// What a model's file of another program leaves out, and which of its fields change nothing.
void note_model(const Node& tree, Library& library, std::vector<Note>& out) {
  const Node* written = tree.find("model");
  if (written == nullptr || (written->kind != Node::Kind::scalar && !has_base(*written))) return;
  const Node model = library.expand_block(*written, model_schema(), "model");
  const Node* source = model.find("source");
  if (source != nullptr && std::filesystem::path(source->place.file).extension() == ".json")
    out.push_back({"model", source->scalar});
}

/// Every value of a mapping with its path.
void each_value(const Node& node, const std::string& path,
                const std::function<void(const std::string&, const Node&)>& see) {
  if (node.kind != Node::Kind::mapping) see(path, node);
  for (const Entry& entry : node.entries) each_value(entry.value, join(path, entry.key), see);
}

bool has(const Node& mapping, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Node* node = mapping.find(path.substr(0, dot));
  return node != nullptr && (dot == std::string_view::npos || has(*node, path.substr(dot + 1)));
}

/// Host times of the scenario's own for what graphs launch: all that a step's graph holds, or layers' graphs, of which
/// one is launched for each recomputed layer as well.
void note_captured(const Node& tree, const Scenario& s, std::vector<Note>& out) {
  using schedules::CudaGraphs;
  const Node* software = tree.find("software");
  const CudaGraphs graphs = s.software.cuda_graphs;
  if (software == nullptr || software->kind != Node::Kind::mapping || graphs == CudaGraphs::none) return;
  const bool step = graphs == CudaGraphs::step;
  const auto captured = [&](const std::string& key) {
    if (software->find(key) != nullptr)
      out.push_back({"software." + key, std::string("changes nothing: cuda_graphs is ") + (step ? "step" : "layers") +
                                            ", and the host launches " +
                                            (step ? "all kernels of a step at once" : "a layer's at once")});
  };
  captured("host_per_checkpoint");
  if (!step) return;
  for (const char* key : {"host_per_kernel", "host_per_linear", "host_per_expert", "host_per_collective",
                          "host_per_peer", "host_per_pass"})
    captured(key);
}

/// Keys of the scenario's own whose constants the profile replaces. Throws InputError for one behind --set.
void note_profile(const Node& tree, const Scenario& scenario, Library& library, std::vector<Note>& out) {
  if (tree.find("profile") == nullptr) return;
  const auto replaced = [&](const std::string& path, const std::string& instead, const Place& place) {
    if (place.line == 0 && place.file.starts_with("--set "))
      fail(place, path, "changes nothing beside a profile, which has its own, expected " + instead);
    out.push_back({path, "changes nothing: the profile has its own, " + instead});
  };
  const Node* software = tree.find("software");
  for (const ProfiledKey& each : profiled_keys(tree, scenario, library))
    if (software != nullptr && software->kind == Node::Kind::mapping && has(*software, each.key))
      replaced("software." + each.key, each.instead, locate(*software, each.key));
  const Node* gpu = &tree;
  for (const char* key : {"cluster", "node", "gpu"})
    if (gpu != nullptr) gpu = gpu->find(key);
  if (gpu != nullptr && gpu->kind == Node::Kind::mapping)
    each_value(*gpu, "", [&](const std::string& path, const Node& value) {
      if (path != "base" && path != "name") replaced("cluster.node.gpu." + path, "profile.gpu." + path, value.place);
    });
}

/// What the scenario itself says of an unfused loss.
void note_loss(const Node& tree, const Scenario& s, std::vector<Note>& out) {
  const Node* software = tree.find("software");
  if (software == nullptr || software->find("fp32_logits") == nullptr) return;
  const char* const fused = s.software.fused_linear_cross_entropy                        ? "fused_linear_cross_entropy"
                            : s.software.fused_cross_entropy != schedules::FusedLoss::no ? "fused_cross_entropy"
                                                                                         : nullptr;
  if (fused != nullptr)
    out.push_back({"software.fp32_logits", std::string("changes nothing: it is of an unfused loss, and this one is "
                                                       "fused (software.") +
                                               fused + ")"});
}

}  // namespace

std::vector<ProfiledKey> profiled_keys(const Node& tree, const Scenario& scenario, Library& library) {
  std::vector<ProfiledKey> out;
  const Node* written = tree.find("profile");
  if (written == nullptr) return out;
  const Node profile = library.expand_block(*written, profile_schema(), "profile");
  if (const Node* software = profile.find("software"))
    each_value(*software, "", [&](const std::string& path, const Node&) {
      out.push_back({path, "profile.software." + path});
    });
  const Node* kernels = profile.find("kernels");
  const std::string_view maker = schedules::kKernelMakers[static_cast<std::size_t>(scenario.software.elementwise_by)];
  for (std::size_t i = 0; kernels != nullptr && i < kernels->items.size(); ++i) {
    const Node *by = kernels->items[i].find("by"), &item = kernels->items[i];
    for (const Entry& entry : item.entries)
      if (by != nullptr && by->scalar == maker && entry.key.starts_with("host_per_"))
        out.push_back({entry.key, "profile.kernels[" + std::to_string(i) + "]." + entry.key});
  }
  return out;
}

std::vector<Note> notes_on_defaults(const Node& tree, const Scenario& scenario, Library& library) {
  std::vector<Note> out;
  note_software(tree, scenario, library, out);
  note_nic(scenario, out);
  note_imported_node(tree, scenario, library, out);
  note_fabric(tree, scenario, library, out);
  note_network_of_one_node(tree, scenario, out);
  note_loss(tree, scenario, out);
  note_model(tree, library, out);
  const Node* training = tree.find("training");
  if (training == nullptr || training->find("precision") == nullptr)
    out.push_back(
        {"training.precision", std::string(name(scenario.training.precision)) +
                                   (scenario.model.precision ? ", as model.precision says" : ", as none is said")});
  note_profile(tree, scenario, library, out);
  note_captured(tree, scenario, out);
  return out;
}

}  // namespace stepcast::language
