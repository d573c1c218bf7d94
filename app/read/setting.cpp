#include "app/read/setting.h"

#include <vector>

#include "app/read/cluster.h"
#include "app/read/files.h"
#include "app/read/merge.h"
#include "app/read/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using collectives::kOperations;
using collectives::Operation;

constexpr const char* kUsualStack = "nccl-a100";
const Table<Setting>& setting_table() {
  using S = Setting;
  static const Table<Setting> table(
      "Collective", "",
      {{{"cluster", block(cluster_schema), kRequired, "where"},
        [](S& s, const Value& v) { s.cluster = finish(read_block(cluster_table(), v), v); }},
       {{"software", block(software_schema), "", "the stack"}, [](S& s, const Value& v) {
          s.software = read_software(*v.node, s.cluster.nccl, *v.library);  // the cluster stands before it in the tree
        }}});
  return table;
}

/// `stack`: the software where none is named.
Setting read_setting(const std::string& command, const boost::program_options::variables_map& values, Library& library,
                     const std::string& stack) {
  const auto word = [&](const char* name) {
    return values.count(name) == 0 ? std::string() : values[name].as<std::string>();
  };
  Node tree = make_mapping({command, 0, 0});
  const auto lay = [&](const std::string& key, const std::string& value, const std::string& flag) {
    if (!value.empty()) merge(setting_table().schema, tree, nest(key, make_scalar(value, {flag, 0, 0})));
  };
  if (word("cluster").empty() == word("node").empty()) {
    throw InputError(command, "expected one of --cluster and --node");
  }
  lay("cluster", word("cluster"), "--cluster");
  lay("cluster.node", word("node"), "--node");
  lay("cluster.nodes", word("nodes"), "--nodes");
  lay("cluster.gpus", word("gpus"), "--gpus");
  lay("cluster.allocation", word("allocation"), "--allocation");
  lay("software", word("software").empty() ? stack : word("software"), "--software");
  lay("software.transport.protocol", word("protocol"), "--protocol");
  lay("software.transport.max_channels", word("max-channels"), "--max-channels");
  for (const std::string& setting : values["set"].as<std::vector<std::string>>()) {
    const std::size_t equals = setting.find('=');
    const std::string flag = "--set " + setting;
    if (equals == std::string::npos || equals == 0 || equals + 1 == setting.size()) {
      throw InputError(flag, "expected key=value");
    }
    std::string key = setting.substr(0, equals);
    if (key.starts_with("transport.")) key = "software." + key;
    if (find_key(setting_table().schema, key) == nullptr) {
      throw InputError(flag,
                       "unknown key " + in_quotes(key) + ", expected one of cluster.*, software.* or transport.*");
    }
    lay(key, setting.substr(equals + 1), flag);
  }
  Setting setting;
  read(setting_table(), tree, "", library, setting);
  return setting;
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

Operation operation_named(const std::string& word, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Operation each : kOperations) {
    if (collectives::name(each) == word) return each;
    names.push_back(collectives::name(each));
  }
  throw InputError(place, "found " + in_quotes(word) + ", expected " + one_of(word, names));
}

}  // namespace stepcast::app
