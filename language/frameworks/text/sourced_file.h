#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stepcast::language {

/// A file whose commands a script runs as its own: "source FILE", ". FILE".
struct SourcedFile {
  std::string name, text;
};

/// The file that such a word names, below the folder of the script, whether the word says so or not
/// ("$(dirname $0)/sizes.sh"). Nothing: it is none that stands there. Others are not looked for, since what stands
/// elsewhere on this machine may not be what stands there where the script runs.
std::optional<SourcedFile> file_beside(const std::string& word, const std::string& script);

}  // namespace stepcast::language
