#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "language/core/library.h"

namespace stepcast::language {

/// A word as YAML writes it: in quotes where it is not plain.
std::string quoted(const std::string& word);

/// A mapping as YAML, a line for each value.
std::string yaml_text(const Node& mapping);

/// A scenario file with what it is based on and includes, and with the settings laid over it, layer by layer
/// ("key=value" as behind --set). What was measured of the file's own plan, and where that is from, is left out. Throws
/// InputError.
Node scenario_tree(const std::filesystem::path& file, std::span<const std::vector<std::string>> layers,
                   Library& library);

/// A scenario's tree with the files that it names named as they are from `folder` ("": the working directory).
/// Configs stay named.
Node with_files_from(Node tree, const std::filesystem::path& folder);

/// A scenario file as YAML that says by itself what the file says with what it is based on and includes, and with the
/// settings laid over it, layer by layer ("key=value" as behind --set). Configs stay named; files are named as they are
/// from `folder`, where the text will stand. What was measured of the file's own plan, and where that is from, is left
/// out. Throws InputError.
std::string scenario_text(const std::filesystem::path& file, std::span<const std::vector<std::string>> layers,
                          Library& library, const std::filesystem::path& folder);

}  // namespace stepcast::language
