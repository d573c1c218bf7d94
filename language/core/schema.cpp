#include "language/core/schema.h"

#include <algorithm>

namespace stepcast::language {
namespace {

const KeyInfo kBase{"base", text_type(), "", "what to start from"};
const KeyInfo kInclude{"include", text_type(), "", "files merged underneath"};

bool below(std::string_view path, std::string_view prefix) {
  return path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '.';
}

/// The first word of `path` behind `prefix`; empty where it is not below.
std::string_view next_word(std::string_view path, std::string_view prefix) {
  if (!prefix.empty()) {
    if (!below(path, prefix)) return {};
    path.remove_prefix(prefix.size() + 1);
  }
  return path.substr(0, path.find('.'));
}

}  // namespace

Names words_below(const Schema& schema, std::string_view prefix) {
  Names words;
  for (const KeyInfo& key : schema.keys) {
    const std::string_view word = next_word(key.path, prefix);
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string_view reader_of(const Schema& schema, const Node& mapping) {
  const std::string_view key = schema.reader->key;
  const Node* const said = mapping.find(key);
  return said != nullptr && said->kind == Node::Kind::scalar ? said->scalar : find_key(schema, key)->fallback;
}

std::optional<Names> read_by(const Schema& schema, std::string_view value) {
  std::optional<Names> keys = schema.reader->reads(value);
  if (keys) keys->insert(keys->end(), schema.reader->everybody.begin(), schema.reader->everybody.end());
  return keys;
}

Names readers_of(const Schema& schema, std::string_view key) {
  Names readers;
  if (!schema.reader) return readers;
  bool all = true;
  for (const std::string_view value : find_key(schema, schema.reader->key)->type.names()) {
    const std::optional<Names> reads = read_by(schema, value);
    if (!reads) continue;
    if (std::ranges::find(*reads, key) != reads->end())
      readers.push_back(value);
    else
      all = false;
  }
  return all ? Names() : readers;
}

const KeyInfo* find_key(const Schema& schema, std::string_view path) {
  if (path == "base") return &kBase;
  if (path == "include") return &kInclude;
  for (const KeyInfo& key : schema.keys) {
    if (key.path == path) return &key;
    if (key.type.kind != Type::Kind::block || !below(path, key.path)) continue;
    return find_key(key.type.fields(), path.substr(key.path.size() + 1));
  }
  return nullptr;
}

std::vector<std::string> all_paths(const Schema& schema, const std::string& prefix) {
  std::vector<std::string> paths;
  for (const KeyInfo& key : schema.keys) {
    paths.push_back(join(prefix, key.path));
    if (key.type.kind != Type::Kind::block) continue;
    for (std::string& path : all_paths(key.type.fields(), paths.back())) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace stepcast::language
