#pragma once

#include <filesystem>

namespace stepcast::language {

/// The file of the running program; where there is no /proc, by the path that it was started with.
std::filesystem::path this_program();

}  // namespace stepcast::language
