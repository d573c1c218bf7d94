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
  return word.find('/') != word.npos || word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

/// Whether what stands behind a path may be the name of a file.
bool may_name_file(const std::string& path) {
  if (path == "base" || path == "include" || path.ends_with(".base") || path.ends_with(".include")) return true;
  const KeyInfo* key = find_key(scenario_schema(), path);
  return key != nullptr && key->type.kind == Type::Kind::block;
}

/// A file's name from an absolute folder, with a slash, as all that are no names of configs have one.
std::string path_from(const std::filesystem::path& folder, const Node& node) {
  const auto file = std::filesystem::absolute(beside(node.place, node.scalar)).lexically_normal();
  const std::string near = file.lexically_relative(folder).string();
  if (near.empty()) return file.string();
  return near.starts_with("../") ? near : "./" + near;
}

void name_files_from(const std::filesystem::path& folder, const std::string& path, Node& node) {
  if (node.kind == Node::Kind::scalar && may_name_file(path) && names_file(node.scalar))
    node.scalar = path_from(folder, node);
  for (Node& item : node.items) name_files_from(folder, path, item);
  for (Entry& entry : node.entries) name_files_from(folder, join(path, entry.key), entry.value);
}

/// Writes a tree as YAML.
class TextWriter {
 public:
  std::string text(const Node& mapping) const {
    std::string out;
    write(mapping, "", "", out);
    return out;
  }

 private:
  /// On the line of its key.
  static std::string in_line(const Node& node) {
    std::string out;
    const auto separate = [&] { out += out.empty() ? "" : ", "; };
    switch (node.kind) {
      case Node::Kind::mapping:
        for (const Entry& entry : node.entries) {
          separate();
          out += quoted(entry.key) + ": " + in_line(entry.value);
        }
        return "{" + out + "}";
      case Node::Kind::list:
        for (const Node& item : node.items) {
          separate();
          out += in_line(item);
        }
        return "[" + out + "]";
      case Node::Kind::scalar:
        return quoted(node.scalar);
      case Node::Kind::nothing:
        break;
    }
    return "null";
  }

  /// Whether a mapping of the scenario's own keys has lost all of them to settings that take keys away. One of a block,
  /// such as a model, says something even where it is empty.
  static bool says_nothing(const Node& mapping, const std::string& path) {
    return mapping.kind == Node::Kind::mapping && find_key(scenario_schema(), path) == nullptr &&
           path.find('.') == path.npos && std::ranges::all_of(mapping.entries, [](const Entry& entry) {
             return entry.value.kind == Node::Kind::nothing;
           });
  }

  void write(const Node& mapping, const std::string& path, const std::string& indent, std::string& out) const {
    for (const Entry& entry : mapping.entries) {
      const std::string own = join(path, entry.key);
      if (entry.value.kind == Node::Kind::nothing || says_nothing(entry.value, own)) continue;
      out += indent + quoted(entry.key) + ":";
      if (entry.value.kind != Node::Kind::mapping || entry.value.entries.empty()) {
        out += " " + in_line(entry.value) + "\n";
        continue;
      }
      out += "\n";
      write(entry.value, own, indent + "  ", out);
    }
  }
};

}  // namespace

std::string yaml_text(const Node& mapping) { return TextWriter().text(mapping); }

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

Node with_files_from(Node tree, const std::filesystem::path& folder) {
  const std::filesystem::path from =
      folder.empty() ? std::filesystem::current_path() : std::filesystem::absolute(folder);
  name_files_from(from.lexically_normal(), "", tree);
  return tree;
}

std::string scenario_text(const std::filesystem::path& file, std::span<const std::vector<std::string>> layers,
                          Library& library, const std::filesystem::path& folder) {
  return yaml_text(with_files_from(scenario_tree(file, layers, library), folder));
}

}  // namespace stepcast::language
