#include "app/read/setting.h"

#include <algorithm>
#include <vector>

#include "app/read/cluster.h"
#include "app/read/files.h"
#include "app/read/given.h"
#include "app/read/merge.h"
#include "app/read/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using collectives::kOperations;
using collectives::Operation;

constexpr const char* kUsualStack = "nccl-a100";

struct Draft {
  schedules::ClusterSpec cluster;
  Node software;
};

const Table<Draft>& setting_table() {
  using D = Draft;
  static const Table<Draft> table(
      "Collective", "",
      {{{"cluster", block(cluster_schema), kRequired, "where"},
        [](D& d, const Value& v) { d.cluster = finish(read_block(cluster_table(), v), v); }},
       {{"software", block(software_schema), "", "the stack"}, [](D& d, const Value& v) { d.software = *v.node; }}});
  return table;
}

/// `stack`: the software where none is named.
Setting read_setting(const std::string& command, const boost::program_options::variables_map& values, Library& library,
                     const std::string& stack) {
  const auto word = [&](const char* name) {
    return values.count(name) == 0 ? std::string() : values[name].as<std::string>();
  };
  if (!word("cluster").empty() && !word("node").empty())
    throw InputError("--cluster", "found " + in_quotes(word("cluster")) + " beside --node " + word("node") +
                                      ", expected one of the two");
  if (word("cluster").empty() && word("node").empty())
    throw InputError(command, "expected one of --cluster and --node");
  std::vector<Given> given;
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
    given.push_back(read_set(setting_table().schema, setting, of_software ? "software." : ""));
  }
  if (std::ranges::find(given, "software", &Given::path) == given.end())
    given.push_back({"software", stack, {"--software", 0, 0}});
  Node tree = make_mapping({command, 0, 0});
  merge(setting_table().schema, tree, layer_of(setting_table().schema, std::move(given), tree.place));
  Draft draft;
  read(setting_table(), tree, "", library, draft);
  return {draft.cluster, read_software(draft.software, draft.cluster.nccl, library), ""};
}

}  // namespace

Setting read_setting(const std::string& command, const boost::program_options::variables_map& values,
                     Library& library) {
  std::string stack = values["software"].as<std::string>();
  Setting setting = read_setting(command, values, library, stack.empty() ? kUsualStack : stack);
  if (stack.empty() && !setting.cluster.nccl.empty()) {
    stack = setting.cluster.nccl;
    setting = read_setting(command, values, library, stack);
  }
  setting.stack = stack.empty() ? kUsualStack : stack;
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

Operation operation_named(const std::string& word, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Operation each : kOperations) {
    if (collectives::name(each) == word) return each;
    names.push_back(collectives::name(each));
  }
  throw InputError(place, "found " + in_quotes(word) + ", expected " + one_of(word, names));
}

}  // namespace stepcast::app
