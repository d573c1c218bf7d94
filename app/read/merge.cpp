#include "app/read/merge.h"

#include <algorithm>
#include <utility>

#include "app/read/yaml.h"
#include "sim/in_quotes.h"

namespace stepcast::app {
namespace {

using Kind = Node::Kind;

void erase(Node& mapping, std::string_view key) {
  std::erase_if(mapping.entries, [&](const Entry& entry) { return entry.key == key; });
}

void drop_alternatives(const Schema& schema, Node& under, const Node& over) {
  const auto given = [&](std::string_view key) { return over.find(key) != nullptr; };
  if (std::none_of(schema.alternatives.begin(), schema.alternatives.end(), given)) return;
  for (const std::string_view key : schema.alternatives) erase(under, key);
}

const KeyInfo* exact(const Schema& schema, std::string_view path) {
  for (const KeyInfo& key : schema.keys) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

/// A key that the mapping has not.
void append(Node& mapping, Entry entry) {
  if (mapping.entries.size() == kMostKeys) {
    fail(entry.place, "", "found " + in_quotes(entry.key) + " behind 500 keys of one mapping, expected fewer");
  }
  mapping.entries.push_back(std::move(entry));
}

/// `inside` is where the two mappings stand within the block that `schema` describes.
void merge_level(const Schema& schema, const std::string& inside, Node& under, const Node& over) {
  if (inside.empty()) drop_alternatives(schema, under, over);
  for (const Entry& entry : over.entries) {
    if (entry.value.erased) {
      erase(under, entry.key);
      continue;
    }
    const std::string path = join(inside, entry.key);
    const KeyInfo* key = exact(schema, path);
    const bool is_block = key != nullptr && key->type.kind == Type::Kind::block;
    Node* old = under.find(entry.key);
    if (entry.value.kind != Kind::mapping) {
      if (old == nullptr) {
        append(under, entry);
      } else {
        *old = entry.value;
        std::find_if(under.entries.begin(), under.entries.end(), [&](auto& e) { return e.key == entry.key; })->place =
            entry.place;
      }
      continue;
    }
    if (old == nullptr) {
      append(under, {entry.key, entry.place, make_mapping(entry.value.place)});
      old = &under.entries.back().value;
    } else if (old->kind == Kind::scalar && is_block) {
      Node base = make_mapping(old->place);
      base.entries.push_back({"base", old->place, std::move(*old)});
      *old = std::move(base);
    } else if (old->kind != Kind::mapping) {
      *old = make_mapping(entry.value.place);
    }
    merge_level(is_block ? key->type.fields() : schema, is_block ? "" : path, *old, entry.value);
  }
}

}  // namespace

void merge(const Schema& schema, Node& under, const Node& over) { merge_level(schema, "", under, over); }

Node nest(std::string_view path, Node value) {
  const std::size_t dot = path.rfind('.');
  Node mapping = make_mapping(value.place);
  const std::string key(dot == std::string_view::npos ? path : path.substr(dot + 1));
  const Place place = value.place;
  mapping.entries.push_back({key, place, std::move(value)});
  return dot == std::string_view::npos ? mapping : nest(path.substr(0, dot), std::move(mapping));
}

}  // namespace stepcast::app
