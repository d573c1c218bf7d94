#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stepcast::language {

/// A file by its name in a configuration: in the folder of this, or in one above, as it is named where the training is
/// started from the root of a repository, which is the last that is looked into. The nearest; nothing: there is none,
/// or its name is no relative one. What stands elsewhere on this machine may not be what stands there where the
/// training runs.
std::optional<std::filesystem::path> file_near(const std::string& name, const std::string& configuration);

/// A file whose commands a script runs as its own: "source FILE", ". FILE".
struct SourcedFile {
  std::string name, text;
};

/// The file that such a word names, whether the word says where the script stands or not ("$(dirname $0)/sizes.sh").
/// Nothing: it is none that stands there. Throws InputError where it cannot be read, or is too large for a script.
std::optional<SourcedFile> sourced_file(const std::string& word, const std::string& script);

/// Why there is none for such a word: the end of a sentence.
std::string why_not_sourced(const std::string& word);

}  // namespace stepcast::language
