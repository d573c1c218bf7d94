#pragma once

#include <any>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "language/core/schema.h"
#include "language/core/tree.h"

namespace stepcast::language {

/// Reads files that name each other: `base:`, `include:`, and blocks given by the name of a file of configs/.
/// Each file is read once and kept. Not for use from several threads at once.
class Library {
 public:
  /// `folders` hold files as configs/ does and lie over each other: the first one with a file of a name wins.
  explicit Library(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}
  explicit Library(std::filesystem::path folder) { folders_.push_back(std::move(folder)); }

  /// A scenario file, with what it is based on and includes merged underneath.
  Node scenario(const std::filesystem::path& file, const Schema& schema);

  /// The same of what was read from `file` already: a stream can be read but once.
  Node scenario(const std::filesystem::path& file, std::string_view text, const Schema& schema);

  /// The files that were read, those of configs/ among them.
  std::vector<std::filesystem::path> files() const;

  /// A mapping with its `base` and `include` merged underneath (and gone), or the file that a scalar names: below
  /// configs/FOLDER, or, with a slash or the ending .yaml or .yml, relative to the file that names it, or what a name
  /// of another program's file stands for (Schema::foreign, Schema::json). A file that names itself means the one that
  /// it lies over.
  /// Throws InputError where a file is missing (with the nearest name) or files name each other in a circle (with the
  /// circle).
  Node expand_block(const Node& node, const Schema& schema, const std::string& path);

  /// Names of the files of a folder of configs/, sorted.
  std::vector<std::string> names(std::string_view folder) const;

  /// The file that `name` means in a folder of configs/, but for the file `except`; nothing where there is none.
  std::optional<std::filesystem::path> file(std::string_view folder, const std::string& name,
                                            const std::string& except = {}) const;

  /// What `read` makes of a file, whose name is part of `key`: made once, since rows of a table name the same files
  /// again and again.
  template <class T, class Read>
  const T& once(const std::string& key, Read read) {
    const auto known = made_.find(key);
    return std::any_cast<const T&>(known != made_.end() ? known->second : made_.emplace(key, read()).first->second);
  }

 private:
  Node expand(const Node& mapping, const Schema& schema, const std::string& path);
  const Node& load(const std::filesystem::path& named, const Node& name, const Schema& schema, const std::string& path);
  Node named(const Node& name, const Schema& schema, const std::string& path);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, Node> files_;
  std::map<std::string, std::any> made_;
  std::vector<std::string> chain_;  ///< files being read now, outermost first
  std::vector<std::filesystem::path> read_;
  /// Answers of file(): rows of a table ask for the same names again and again.
  mutable std::map<std::array<std::string, 3>, std::optional<std::filesystem::path>> looked_up_;
};

/// The file that a name written at `place` means: relative to the file it stands in; of a flag, or a stream, to the
/// working directory. "-" of a flag is standard input.
std::filesystem::path beside(const Place& place, const std::string& name);

}  // namespace stepcast::language
