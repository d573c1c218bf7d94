#include "language/core/tree.h"

#include <algorithm>
#include <utility>

#include "sim/in_quotes.h"

namespace stepcast::language {

std::string text(const Place& place) {
  if (place.line == 0) return place.file;
  return place.file + ':' + std::to_string(place.line) + ':' + std::to_string(place.column);
}

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

Node make_scalar(std::string scalar, Place place) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.scalar = std::move(scalar);
  node.place = std::move(place);
  return node;
}

Node make_list(const std::string& text, const Place& place) {
  if (!text.starts_with('[') || !text.ends_with(']')) return make_scalar(text, place);
  Node list;
  list.kind = Node::Kind::list;
  list.place = place;
  for (std::size_t begin = 1, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size() - 1);
    std::string item = text.substr(begin, end - begin);
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    list.items.push_back(make_scalar(std::move(item), place));
  }
  if (list.items.size() == 1 && list.items.front().scalar.empty()) list.items.clear();  // "[]"
  return list;
}

Node make_mapping(Place place) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.place = std::move(place);
  return node;
}

std::string found(const Node& node) {
  switch (node.kind) {
    case Node::Kind::nothing:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::scalar:
      break;
  }
  return in_quotes(node.scalar);
}

std::size_t count(const Node& node) {
  std::size_t nodes = 1;
  for (const Node& item : node.items) nodes += count(item);
  for (const Entry& entry : node.entries) nodes += count(entry.value);
  return nodes;
}

Place locate(const Node& root, std::string_view path) {
  const Node* node = &root;
  Place parent = root.place;
  while (!path.empty()) {
    const std::size_t end = path.find_first_of(".[");
    if (end == 0 && path[0] == '[') {
      const std::size_t close = path.find(']');
      const std::size_t item = std::stoul(std::string(path.substr(1, close - 1)));
      if (item >= node->items.size()) return parent;
      node = &node->items[item];
      parent = node->place;
      path.remove_prefix(close + 1);
      if (path.starts_with('.')) path.remove_prefix(1);
      continue;
    }
    const std::string_view key = path.substr(0, end);
    const Entry* next = nullptr;
    for (const Entry& entry : node->entries) {
      if (entry.key == key) next = &entry;
    }
    if (next == nullptr) return parent;
    node = &next->value;
    const bool empty = node->kind == Node::Kind::nothing;
    parent = next->place;
    if (end == std::string_view::npos) return empty ? next->place : node->place;
    path.remove_prefix(path[end] == '.' ? end + 1 : end);
  }
  return parent;
}

std::string join(std::string_view prefix, std::string_view key) {
  std::string path(prefix);
  if (!path.empty()) path += '.';
  path += key;
  return path;
}

}  // namespace stepcast::language
