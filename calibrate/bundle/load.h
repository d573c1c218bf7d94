#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/bundle/bundle.h"

namespace stepcast::calibrate {

/// The tables (*.csv) of a bundle: a folder, or a tar archive of one, however compressed; sorted by name. Where all
/// lies in one folder inside, names start below it. Throws InputError for what is neither, for an archive that breaks
/// off, two files of one name, and more than 256 MiB.
std::vector<BundleFile> load_bundle(const std::filesystem::path& path);

/// The same of an archive's bytes; `shown` is what messages call it.
std::vector<BundleFile> unpack_bundle(std::string_view archive, const std::string& shown);

}  // namespace stepcast::calibrate
