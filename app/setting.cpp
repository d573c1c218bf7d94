#include "app/setting.h"

#include <algorithm>
#include <vector>

#include "language/configs/cluster.h"
#include "language/configs/files.h"
#include "language/configs/usual_stack.h"
#include "language/core/given.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "language/core/read_mapping.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

struct SettingDraft {
  schedules::ClusterSpec cluster;
  language::Node software;
};

const language::Table<SettingDraft>& setting_table() {
  using D = SettingDraft;
  static const language::Table<SettingDraft> table(
      "Collective", "",
      {{{"cluster", block(language::cluster_schema), language::kRequired, "where"},
        [](D& d, const language::Value& v) {
          d.cluster = language::finish(language::read_block(language::cluster_table(), v), v);
        }},
       {{"software", block(language::software_schema), "", "the stack"},
        [](D& d, const language::Value& v) { d.software = *v.node; }}});
  return table;
}

}  // namespace

void add_cluster_options(boost::program_options::options_description& options) {
  const auto text = [] { return boost::program_options::value<std::string>()->default_value("", ""); };
  // clang-format off
  options.add_options()
      ("cluster", text(), "a file of configs/clusters/, or with a slash or .yaml a file of yours")
      ("node", text(), "or machines of this kind: a file of configs/nodes/")
      ("nodes", text(), "how many of them")
      ("gpus", text(), "or how many GPUs; fewer than one machine has: a part of it")
      ("allocation", text(), "or which GPUs: '0-2,5', 'node0:0-3,node2:4-7'");
  // clang-format on
}

Setting read_setting(const std::string& command, const boost::program_options::variables_map& values,
                     language::Library& library) {
  const auto word = [&](const char* name) {
    return values.count(name) == 0 ? std::string() : values[name].as<std::string>();
  };
  if (!word("cluster").empty() && !word("node").empty())
    throw InputError("--cluster", "found " + in_quotes(word("cluster")) + " beside --node " + word("node") +
                                      ", expected one of the two");
  if (word("cluster").empty() && word("node").empty())
    throw InputError(command, "expected one of --cluster and --node");
  std::vector<language::Given> given;
  const auto flag = [&](const char* key, const char* name) {
    if (const std::string text = word(name); !text.empty())
      given.push_back({key, text, {std::string("--") + name, 0, 0}});
  };
  flag("cluster", "cluster");
  flag("cluster.node", "node");
  flag("cluster.nodes", "nodes");
  flag("cluster.gpus", "gpus");
  flag("cluster.allocation", "allocation");
  flag("software", "software");
  flag("software.transport.protocol", "protocol");
  flag("software.transport.max_channels", "max-channels");
  for (const std::string& setting : values["set"].as<std::vector<std::string>>()) {
    const bool of_software = setting.starts_with("transport.") || setting.starts_with("transport=");
    given.push_back(language::read_set(setting_table().schema, setting, of_software ? "software." : ""));
  }
  language::Node tree = language::make_mapping({command, 0, 0});
  language::merge(setting_table().schema, tree,
                  language::layer_of(setting_table().schema, std::move(given), tree.place));
  SettingDraft draft;
  read(setting_table(), tree, "", library, draft);
  if (draft.software.kind == language::Node::Kind::nothing)
    draft.software = language::make_mapping({"--software", 0, 0});
  Setting setting{
      draft.cluster, language::read_software(draft.software, draft.cluster.nccl, library), word("software"), {}};
  const std::optional<topology::LinkType>& nic = setting.cluster.node.nic;
  if (setting.stack.empty()) {
    setting.stack = setting.cluster.nccl;
    if (setting.software.name.empty()) setting.software.name = setting.stack;
    if (!setting.cluster.nccl_assumed.empty())
      setting.notes.push_back("stack " + setting.stack + ", " + setting.cluster.nccl_assumed);
    else if (setting.cluster.gpu.compute_capability == 0)
      setting.notes.push_back("stack " + setting.stack + ", " + language::fitted_on(setting.cluster.gpu.name, 0, true));
  }
  const bool several = setting.cluster.gpus > setting.cluster.node.gpus ||
                       (setting.cluster.allocation && setting.cluster.allocation->nodes.size() > 1);
  if (several && nic && !nic->nccl_assumed.empty() && setting.software.transport.network_of_links)
    setting.notes.push_back("what NCCL costs over " + nic->name + " is not said: " + nic->nccl_assumed);
  return setting;
}

topology::Cluster build_as_asked(const schedules::ClusterSpec& cluster,
                                 const boost::program_options::variables_map& values) {
  try {
    return topology::build_cluster(cluster.node, cluster.fabric, cluster.gpus, cluster.allocation);
  } catch (const InputError& e) {
    for (const char* const option : {"nodes", "gpus", "allocation"})
      if (const auto word = values[option].as<std::string>(); !word.empty())
        throw InputError(std::string("--") + option, "found " + in_quotes(word) + "; " + e.what());
    throw;
  }
}

}  // namespace stepcast::app
