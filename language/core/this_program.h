#pragma once

#include <filesystem>

namespace stepcast::language {

/// The file that this code is in: the running program (where there is no /proc, by the path that it was started with),
/// or a shared object that a program of others has loaded, such as Python's module.
std::filesystem::path this_program();

}  // namespace stepcast::language
