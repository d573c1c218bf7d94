#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stepcast::language {

/// A file by its name in a configuration: in the folder of this, or in one above, as it is named where the training is
/// started from the root of a repository. The nearest; nothing: there is none, or its name is no relative one. What
/// stands elsewhere on this machine may not be what stands there where the training runs.
std::optional<std::filesystem::path> file_near(const std::string& name, const std::string& configuration);

/// A file whose commands a script runs as its own: "source FILE", ". FILE".
struct SourcedFile {
  std::string name, text;
};

/// The file that such a word names, whether the word says where the script stands or not ("$(dirname $0)/sizes.sh").
/// Nothing: it is none that stands there.
std::optional<SourcedFile> sourced_file(const std::string& word, const std::string& script);

}  // namespace stepcast::language
