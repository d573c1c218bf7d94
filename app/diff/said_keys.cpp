#include "app/diff/said_keys.h"

namespace stepcast::app {
namespace {

void flatten(const language::Node& node, const std::string& path, std::map<std::string, std::string>& keys) {
  using Kind = language::Node::Kind;
  if (node.kind == Kind::scalar) keys[path] = node.scalar;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    flatten(node.items[i], path + "[" + std::to_string(i) + "]", keys);
  for (const language::Entry& entry : node.entries) flatten(entry.value, language::join(path, entry.key), keys);
}

}  // namespace

std::map<std::string, std::string> said_keys(const language::Node& scenario) {
  std::map<std::string, std::string> keys;
  flatten(scenario, "", keys);
  for (const char* told_elsewhere : {"name", "note", "source"}) keys.erase(told_elsewhere);
  return keys;
}

}  // namespace stepcast::app
