#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/bundle/bundle.h"

namespace stepcast::calibrate {

inline constexpr std::size_t kLargestBundle = std::size_t{256} << 20;

/// The tables (*.csv) of a bundle: a folder, or a tar archive of one, compressed or not; sorted by name. Where all
/// lies in one folder inside, names start below it. Throws InputError for what is neither, for an archive that breaks
/// off, two files of one name, and more than 256 MiB.
std::vector<BundleFile> load_bundle(const std::filesystem::path& path);

/// The same of an archive's bytes (compressed as unpacking.h says); `shown` is what messages call it.
std::vector<BundleFile> unpack_bundle(std::string_view archive, const std::string& shown);

}  // namespace stepcast::calibrate
