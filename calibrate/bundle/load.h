#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/logs/unpacker.h"

namespace stepcast::calibrate {

inline constexpr std::size_t kLargestBundle = std::size_t{256} << 20;

/// The tables (*.csv) of a bundle, sorted by name. Where all lies in one folder inside, names start below it. Throws
/// InputError for two files of one name and more than 256 MiB. The folder is there.
std::vector<BundleFile> load_bundle(const std::filesystem::path& folder);

/// The same of a tar archive of a bundle, compressed or not; `shown` is what messages call it. Throws InputError for
/// what is none and for one that breaks off, too.
std::vector<BundleFile> unpack_bundle(std::string_view packed, const std::string& shown, Unpacker unpacker);

}  // namespace stepcast::calibrate
