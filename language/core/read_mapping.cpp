#include "language/core/read_mapping.h"

#include <algorithm>

#include "language/core/convert.h"
#include "language/core/framework_words.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostNamed = 24;  // in one message

/// "; did you mean '[mlp, moe_act]'?" for words of a list that stand without its brackets.
std::string brackets_meant(const Type& list, const Node& written) {
  if (list.names == nullptr || written.kind != Node::Kind::scalar) return {};
  const std::string text = '[' + written.scalar + ']';
  const Names names = list.names();
  const auto known = [&](const Node& item) { return std::ranges::find(names, item.scalar) != names.end(); };
  const Node meant = make_list(text, written.place);
  return std::ranges::all_of(meant.items, known) ? "; did you mean '" + text + "'?" : "";
}

/// Reads one block level by level: `inside` is the path within the block, `path` the path within the whole.
class MappingReader {
 public:
  MappingReader(const Schema& schema, std::string outside, Library& library,
                const std::function<void(std::size_t, const Value&)>& store)
      : schema_(schema), outside_(std::move(outside)), library_(library), store_(store), seen_(schema.keys.size()) {}

  void level(const Node& mapping, const std::string& inside) {
    if (mapping.kind != Node::Kind::mapping) {
      fail(mapping.place, join_path(inside), "found " + found(mapping) + ", expected a mapping");
    }
    for (const Entry& entry : mapping.entries) {
      if (entry.key.find('.') != std::string::npos) dotted(entry, inside);
      const std::string path = join(inside, entry.key);
      const std::size_t key = number_of(path);
      const bool parent = has_children(path);
      if (entry.value.kind == Node::Kind::mapping && parent && !is_block(key)) {
        level(entry.value, path);
      } else if (key < schema_.keys.size()) {
        one(key, entry);
      } else if (parent) {
        level(with_place(entry), path);
      } else {
        unknown(entry, inside);
      }
    }
  }

  /// Throws InputError for a key that who reads this block does not read.
  void leave_nothing_unread(const Node& root) const {
    if (!schema_.reader) return;
    const std::string_view value = reader_of(schema_, root);
    const std::optional<Names> reads = read_by(schema_, value);
    if (!reads) return;
    for (const Entry& entry : root.entries) {
      if (std::ranges::find(*reads, entry.key) != reads->end()) continue;
      const Names own = *schema_.reader->reads(value);
      fail(entry.place, join_path(entry.key),
           "found a key that the " + std::string(schema_.reader->key) + ' ' + in_quotes(value) +
               " does not read, expected " + (own.empty() ? "the key left out" : one_of(entry.key, own)));
    }
  }

  void require_all(const Node& root, const Place& place) const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const KeyInfo& key = schema_.keys[i];
      if (seen_[i] || key.fallback != kRequired) continue;
      Place where = locate(root, key.path);
      if (root.find(key.path.substr(0, key.path.find('.'))) == nullptr) where = place;
      fail(where, join_path(std::string(key.path)), "missing, expected " + expected(key.type));
    }
  }

 private:
  std::string join_path(const std::string& inside) const { return inside.empty() ? outside_ : join(outside_, inside); }

  /// A value that is absent ("training:") has the place of its key.
  static Node with_place(const Entry& entry) {
    Node node = entry.value;
    if (node.kind == Node::Kind::nothing) node.place = entry.place;
    return node;
  }

  std::size_t number_of(std::string_view path) const {
    const auto key = schema_.number_of.find(path);
    return key != schema_.number_of.end() ? key->second : schema_.keys.size();
  }
  bool has_children(std::string_view path) const { return schema_.groups.contains(path); }
  bool is_block(std::size_t key) const {
    return key < schema_.keys.size() && schema_.keys[key].type.kind == Type::Kind::block;
  }

  void one(std::size_t number, const Entry& entry) {
    const KeyInfo& key = schema_.keys[number];
    const std::string path = join_path(std::string(key.path));
    seen_[number] = true;
    if (entry.value.kind == Node::Kind::nothing) {
      fail(entry.place, path, "found nothing, expected " + expected(key.type));
    }
    if (key.type.kind == Type::Kind::list && entry.value.kind != Node::Kind::list) {
      fail(entry.value.place, path,
           "found " + found(entry.value) + ", expected " + expected(key.type) + brackets_meant(key.type, entry.value));
    }
    if (key.type.kind == Type::Kind::block) {
      Value value;
      const Node expanded = library_.expand_block(entry.value, key.type.fields(), path);
      value.by_name = entry.value.kind == Node::Kind::scalar;
      value.text = value.by_name ? entry.value.scalar : "";
      if (const Node* base = entry.value.find("base")) value.text = base->scalar;
      value.node = &expanded;
      value.path = path;
      value.library = &library_;
      store_(number, value);
      return;
    }
    Value value;
    if (key.type.kind == Type::Kind::list) {
      value.node = &entry.value;
      value.path = path;
    } else {
      value = convert(key.type, entry.value, path);
    }
    value.library = &library_;
    store_(number, value);
  }

  /// Two ways to write one key would be two keys for whatever merges or overrides it.
  [[noreturn]] void dotted(const Entry& entry, const std::string& inside) const {
    const std::size_t dot = entry.key.rfind('.');
    fail(entry.place, join_path(inside),
         "found the dotted key " + in_quotes(entry.key) + ", expected '" + entry.key.substr(dot + 1) + "' inside '" +
             entry.key.substr(0, dot) + "' (dots are for --set and the headers of tables)");
  }

  [[noreturn]] void unknown(const Entry& entry, const std::string& inside) const {
    const Names words = words_below(schema_, inside);
    if (const std::size_t colon = entry.key.find(':');
        colon != std::string::npos &&
        std::ranges::find(words, std::string_view(entry.key).substr(0, colon)) != words.end())
      fail(entry.place, join_path(inside),
           "found " + in_quotes(entry.key) + " without a blank behind its colon, expected '" +
               entry.key.substr(0, colon) + ": " + entry.key.substr(colon + 1) + "'");
    std::string what = "found the unknown key " + in_quotes(entry.key) + ", expected ";
    const FrameworkWord* const theirs = framework_word(entry.key);
    if (theirs != nullptr && find_key(schema_, theirs->key) != nullptr)
      fail(entry.place, join_path(inside), what + written_here(*theirs));
    if (nearest(entry.key, words).empty()) {
      for (const KeyInfo& key : schema_.keys) {  // right word, wrong block
        if (std::string_view(key.path).ends_with("." + entry.key)) {
          fail(entry.place, join_path(inside), what + "it as '" + join_path(std::string(key.path)) + "'");
        }
      }
    }
    const std::string block = join_path(inside);
    const bool some_unnamed = words.size() > kMostNamed && !block.empty();
    fail(entry.place, block,
         what + one_of(entry.key, words, kMostNamed) +
             (some_unnamed ? " ('stepcast keys " + block + "' lists all)" : std::string()));
  }

  const Schema& schema_;
  const std::string outside_;
  Library& library_;
  const std::function<void(std::size_t, const Value&)>& store_;
  std::vector<bool> seen_;
};

}  // namespace

void read_mapping(const Schema& schema, const Node& mapping, const std::string& path, Library& library,
                  const std::function<void(std::size_t, const Value&)>& store) {
  MappingReader reader(schema, path, library, store);
  reader.level(mapping, "");
  reader.leave_nothing_unread(mapping);
  reader.require_all(mapping, mapping.place);
}

}  // namespace stepcast::language
