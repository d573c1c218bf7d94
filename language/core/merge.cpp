#include "language/core/merge.h"

#include <algorithm>
#include <utility>

#include "language/core/yaml.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

/// What stands at a path below a mapping; nullptr: nothing does.
const Node* at(const Node& mapping, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Node* node = mapping.find(path.substr(0, dot));
  return node == nullptr || dot == std::string_view::npos ? node : at(*node, path.substr(dot + 1));
}

bool says(const Node& mapping, std::string_view path) {
  const Node* node = at(mapping, path);
  return node != nullptr && !node->erased;
}

void erase(Node& mapping, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    std::erase_if(mapping.entries, [&](const Entry& entry) { return entry.key == path; });
  } else if (Node* inner = mapping.find(path.substr(0, dot))) {
    erase(*inner, path.substr(dot + 1));
  }
}

/// Takes from `under` what `over` leaves no room for. Both are blocks of this schema.
void make_room(const Schema& schema, Node& under, const Node& over) {
  for (const Rivals& rivals : schema.rivals) {
    if (says(over, rivals.one)) erase(under, rivals.other);
    if (says(over, rivals.other)) erase(under, rivals.one);
  }
  for (const Detail& detail : schema.details) {
    const Node* value = at(over, detail.of);
    const bool another = value != nullptr && value->kind == Node::Kind::scalar && value->scalar != detail.value;
    if (another || (value != nullptr && value->erased)) erase(under, detail.key);
    if (!says(over, detail.key)) continue;
    for (const Detail& other : schema.details)
      if (other.of == detail.of && other.value != detail.value) erase(under, other.key);
  }
  for (const Dependent& dependent : schema.dependents)
    if (over.find(dependent.on) != nullptr) erase(under, dependent.key);
  if (!schema.reader || over.find(schema.reader->key) == nullptr) return;
  if (const std::optional<Names> reads = read_by(schema, reader_of(schema, over)))
    std::erase_if(under.entries, [&](const Entry& entry) {
      return find_key(schema, entry.key) != nullptr && entry.key != "base" && entry.key != "include" &&
             std::ranges::find(*reads, entry.key) == reads->end();
    });
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

/// Whether files are merged underneath later, from which an erased key must still be taken.
bool starts_from_files(const Node& block) { return block.find("base") != nullptr || block.find("include") != nullptr; }

class Merging {
 public:
  explicit Merging(bool one_layer) : one_layer_(one_layer) {}

  void block(const Schema& schema, bool keeps_erased, Node& under, const Node& over) {
    if (!one_layer_) make_room(schema, under, over);
    level(schema, "", keeps_erased || starts_from_files(under) || starts_from_files(over), under, over);
  }

 private:
  /// `inside` is where the two mappings stand within the block that `schema` describes.
  void level(const Schema& schema, const std::string& inside, bool keeps_erased, Node& under, const Node& over) {
    for (const Entry& entry : over.entries) {
      if (entry.value.erased && !keeps_erased) {
        erase(under, entry.key);
        continue;
      }
      const std::string path = join(inside, entry.key);
      const KeyInfo* key = exact(schema, path);
      const bool is_block = key != nullptr && key->type.kind == Type::Kind::block;
      Node* old = under.find(entry.key);
      if (entry.value.kind != Node::Kind::mapping) {
        put(under, entry);
        continue;
      }
      if (old == nullptr) {
        append(under, {entry.key, entry.place, make_mapping(entry.value.place)});
        old = &under.entries.back().value;
        old->replaces = entry.value.replaces;
      } else if (entry.value.replaces) {
        *old = make_mapping(entry.value.place);
        old->replaces = true;
      } else if (old->kind == Node::Kind::scalar && is_block) {
        Node base = make_mapping(old->place);
        base.entries.push_back({"base", old->place, std::move(*old)});
        *old = std::move(base);
        old->replaces = true;
      } else if (old->kind != Node::Kind::mapping) {
        *old = make_mapping(entry.value.place);
        old->replaces = true;
      }
      if (is_block) {
        block(key->type.fields(), keeps_erased, *old, entry.value);
      } else {
        level(schema, path, keeps_erased, *old, entry.value);
      }
    }
  }

  static void put(Node& under, const Entry& entry) {
    const auto old = std::ranges::find(under.entries, entry.key, &Entry::key);
    if (old == under.entries.end()) {
      append(under, entry);
    } else {
      *old = entry;
    }
  }

  bool one_layer_;
};

}  // namespace

void merge(const Schema& schema, Node& under, const Node& over) { Merging(false).block(schema, false, under, over); }

void gather(const Schema& schema, Node& layer, const Node& more) { Merging(true).block(schema, true, layer, more); }

Node nest(std::string_view path, Node value) {
  const std::size_t dot = path.rfind('.');
  Node mapping = make_mapping(value.place);
  const std::string key(dot == std::string_view::npos ? path : path.substr(dot + 1));
  const Place place = value.place;
  mapping.entries.push_back({key, place, std::move(value)});
  return dot == std::string_view::npos ? mapping : nest(path.substr(0, dot), std::move(mapping));
}

}  // namespace stepcast::language
