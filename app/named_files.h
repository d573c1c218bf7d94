#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace stepcast::app {

/// A file that a flag names.
struct NamedFile {
  std::string flag, path;  ///< path "-": standard output
};

/// What `word`, the value of --output, names: nothing is standard output.
NamedFile named_output(const std::string& word);

/// Throws InputError where two of the outputs are one file (by another path, a link, an open descriptor), or one of
/// them is a file that is read; std::runtime_error, with the file and the system's reason, where an output's folder is
/// not there. Outputs with an empty path are not asked for. Devices, such as /dev/null, may be named as often as one
/// likes. To be called before anything is computed.
void check_outputs(std::span<const NamedFile> outputs, std::span<const std::filesystem::path> inputs);

}  // namespace stepcast::app
