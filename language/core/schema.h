#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "language/core/type.h"

namespace stepcast::language {

/// `fallback` of a key that must be given.
inline constexpr std::string_view kRequired = "required";

/// One key of the language: all that is known of it except where its value goes.
struct KeyInfo {
  std::string_view path;  ///< inside its block: "memory.size"
  Type type;
  std::string_view fallback;  ///< the default in words; kRequired; "" where nothing happens without it
  std::string_view help;      ///< one line
};

/// Two keys that say the same in two ways: "nodes" and "gpus".
struct Rivals {
  std::string_view one, other;
};

/// A key that says more of one value of another key, and goes with no other: "recompute.every" of recompute full.
struct Detail {
  std::string_view key, of, value;
};

/// A key whose value was measured of one value of another key: constants of a family of networks. A layer that says
/// `on` anew takes `key` away below it.
struct Dependent {
  std::string_view key, on;
};

/// A key that says who reads the others: the builder of a node, the kind of a fabric.
struct Reader {
  std::string_view key;
  Names everybody;  ///< keys of the block that are read whatever that key says
  /// The other keys that are read where it says `value`; nothing: not for this table to say.
  std::optional<Names> (*reads)(std::string_view value);
};

/// Files of another program that stand for a block: JSON, by the ending .json, or in a folder by their name.
struct JsonFiles {
  std::string_view in_folder;                                                ///< "config.json"
  Node (*read)(const std::string& text, const std::string& file) = nullptr;  ///< as a mapping of the block's keys
};

/// The keys of one block, and the folder of configs/ that holds ready ones ("" for the scenario itself).
struct Schema {
  std::string_view title;
  std::string_view folder;
  std::vector<KeyInfo> keys;
  /// How a layer changes another (language/core/merge.h) and which keys of one layer contradict each other.
  std::vector<Rivals> rivals = {};
  std::vector<Detail> details = {};
  std::vector<Dependent> dependents = {};
  /// Where there is one, a key that it does not read is an error. A layer that names another reader takes away below it
  /// what that one does not read, so that a file may start from one of another kind.
  std::optional<Reader> reader = {};
  /// The mapping that the name of another program's file stands for; nothing for any other name.
  std::optional<Node> (*foreign)(const Node& name) = nullptr;
  std::optional<JsonFiles> json = {};
  /// For those who read: the place of each path in `keys`, and the paths that keys are below.
  std::unordered_map<std::string_view, std::size_t> number_of = {};
  std::unordered_set<std::string_view> groups = {};
};

/// A key and what to do with its value. `store` may throw InputError; it is null for a key not built yet.
template <class T>
struct Key : KeyInfo {
  void (*store)(T&, const Value&) = nullptr;
};

/// The one table of a block: reading, --set, table headers, error messages and the reference page all walk it.
/// Adding a key is one line in it.
template <class T>
struct Table {
  Table(std::string_view title, std::string_view folder, std::vector<Key<T>> all, std::vector<Rivals> rivals = {},
        std::vector<Detail> details = {})
      : keys(std::move(all)) {
    schema.title = title;
    schema.folder = folder;
    schema.rivals = std::move(rivals);
    schema.details = std::move(details);
    for (const Key<T>& key : keys) {
      schema.number_of.emplace(key.path, schema.keys.size());
      schema.keys.push_back(key);
      for (std::size_t dot = key.path.find('.'); dot != key.path.npos; dot = key.path.find('.', dot + 1))
        schema.groups.insert(key.path.substr(0, dot));
    }
  }
  std::vector<Key<T>> keys;
  Schema schema;
};

/// Who reads a block: what it says behind Reader::key, or that key's default.
std::string_view reader_of(const Schema& schema, const Node& mapping);

/// The keys of a block that are read where `value` stands behind Reader::key, those that everybody reads among them.
/// Nothing: all of them, as far as this table says.
std::optional<Names> read_by(const Schema& schema, std::string_view value);

/// Those values of Reader::key where `key` is read; none where all read it or the block has no reader.
Names readers_of(const Schema& schema, std::string_view key);

/// The first words of the keys below a path of the block.
Names words_below(const Schema& schema, std::string_view prefix);

/// The key that `path` means, blocks inside blocks included ("model.layers" where `model` is a block).
/// nullptr: no such key. `base` and `include` of a block count as keys of type text.
const KeyInfo* find_key(const Schema& schema, std::string_view path);

/// Every path below a schema, in the order of the tables; blocks inside blocks included.
std::vector<std::string> all_paths(const Schema& schema, const std::string& prefix = {});

}  // namespace stepcast::language
