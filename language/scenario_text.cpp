#include "language/scenario_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "language/core/given.h"
#include "language/core/merge.h"
#include "language/scenario.h"

namespace stepcast::language {

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::isalnum(static_cast<unsigned char>(word.front())) != 0 &&
                     word.back() != ' ' && std::ranges::all_of(word, [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("_./+- ").find(c) != std::string_view::npos;
                     });
  if (plain) return word;
  std::string out = "\"";
  for (const char c : word) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

namespace {

/// Whether a word names a file, not a config.
bool names_file(const std::string& word) {
  return word.find('/') != word.npos || word.ends_with(".yaml") || word.ends_with(".yml");
}

/// Whether what stands behind a path may be the name of a file.
bool may_name_file(const std::string& path) {
  if (path == "base" || path == "include" || path.ends_with(".base") || path.ends_with(".include")) return true;
  const KeyInfo* key = find_key(scenario_schema(), path);
  return key != nullptr && key->type.kind == Type::Kind::block;
}

std::string word_of(const Node& node, const std::string& path) {
  if (may_name_file(path) && names_file(node.scalar))
    return quoted(std::filesystem::absolute(beside(node.place, node.scalar)).lexically_normal().string());
  return quoted(node.scalar);
}

/// On the line of its key.
std::string in_line(const Node& node, const std::string& path) {
  std::string out;
  const auto separate = [&] { out += out.empty() ? "" : ", "; };
  switch (node.kind) {
    case Node::Kind::mapping:
      for (const Entry& entry : node.entries) {
        separate();
        out += quoted(entry.key) + ": " + in_line(entry.value, join(path, entry.key));
      }
      return "{" + out + "}";
    case Node::Kind::list:
      for (const Node& item : node.items) {
        separate();
        out += in_line(item, path);
      }
      return "[" + out + "]";
    case Node::Kind::scalar:
      return word_of(node, path);
    case Node::Kind::nothing:
      break;
  }
  return "null";
}

void write(const Node& mapping, const std::string& path, const std::string& indent, std::string& out) {
  for (const Entry& entry : mapping.entries) {
    const std::string own = join(path, entry.key);
    if (entry.value.kind == Node::Kind::nothing) continue;
    out += indent + quoted(entry.key) + ":";
    if (entry.value.kind != Node::Kind::mapping || entry.value.entries.empty()) {
      out += " " + in_line(entry.value, own) + "\n";
      continue;
    }
    out += "\n";
    write(entry.value, own, indent + "  ", out);
  }
}

}  // namespace

Node scenario_tree(const std::filesystem::path& file, std::span<const std::vector<std::string>> layers,
                   Library& library) {
  const Schema& schema = scenario_schema();
  Node tree = library.scenario(file, schema);
  for (const std::vector<std::string>& layer : layers) {
    std::vector<Given> given;
    for (const std::string& setting : layer) given.push_back(read_set(schema, setting));
    merge(schema, tree, layer_of(schema, std::move(given), {"--set", 0, 0}));
    tree = library.expand_block(tree, schema, "");
  }
  std::erase_if(tree.entries, [](const Entry& entry) {
    return entry.key == "measured" || entry.key == "source" || entry.key == "note" || entry.key == "confidence";
  });
  return tree;
}

std::string scenario_text(const std::filesystem::path& file, std::span<const std::vector<std::string>> layers,
                          Library& library) {
  std::string out;
  write(scenario_tree(file, layers, library), "", "", out);
  return out;
}

}  // namespace stepcast::language
