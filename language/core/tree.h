#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::language {

/// Where a value was written. Lines and columns count from 1; line 0: the whole of `file` (or a flag such as --set).
struct Place {
  std::string file;
  std::uint32_t line = 0, column = 0;
};

std::string text(const Place& place);  ///< "a.yaml:3:14", or "a.yaml" without a line

struct Entry;

/// What was written, before anything is made of it: YAML documents, table rows and --set all become such a tree.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  Place place;
  std::string scalar;
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a mapping, in the order written; no key twice
  bool erased = false;         ///< `nothing` that takes a lower layer's value away (--set key=)
  bool replaces = false;       ///< a mapping that goes over no lower layer's: it takes its place, as a word does
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
};

struct Entry {
  std::string key;
  Place place;
  Node value;
};

Node make_scalar(std::string scalar, Place place);
/// A list as one line writes it, of scalars without brackets or commas: "[4, 4, 3]". Other text: a scalar.
Node make_list(const std::string& text, const Place& place);
Node make_mapping(Place place);

/// "found 'x'" as error messages say it: 'x', nothing, a list, a mapping.
std::string found(const Node& node);

/// Nodes of the tree, itself included.
std::size_t count(const Node& node);

/// Where `path` ("a.b.c") was written: the value itself, or the key of the deepest parent that is there.
Place locate(const Node& root, std::string_view path);

/// "a.b" and "c" make "a.b.c"; an empty prefix adds nothing.
std::string join(std::string_view prefix, std::string_view key);

}  // namespace stepcast::language
