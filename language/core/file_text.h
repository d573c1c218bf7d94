#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace stepcast::language {

inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;

/// The whole of a file, or all that a stream says until it ends. Throws InputError where it is missing, unreadable, a
/// directory or above `most` bytes, of which messages speak in MiB.
std::string read_file(const std::filesystem::path& path, const std::string& shown, std::size_t most = kLargestFile);

/// Removes a byte order mark and checks that the rest is text: not empty, no NUL, valid UTF-8.
/// Throws InputError with file:line:column.
std::string_view checked_text(std::string_view text, const std::string& file);

/// "; did you mean 'NAME'?" where the folder of a missing file holds a scenario, table or folder of nearly that name;
/// of a link to nothing, that it is one.
std::string did_you_mean(const std::filesystem::path& missing);

/// A path as messages show it: relative where it is below the working directory.
std::string shown_path(const std::filesystem::path& path);

}  // namespace stepcast::language
