#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stepcast::app {

/// The measuring program (calibrate/measure): STEPCAST_MEASURE where that is set, else stepcast_measure beside this
/// program or in a folder of PATH. Nothing where there is none.
std::optional<std::filesystem::path> find_measuring_program();

/// One line: what this machine lacks to measure itself, nvcc and a GPU among it.
std::string what_is_missing();

/// Runs it and waits: it writes a bundle to `folder` and tells how far it is on stderr. Throws std::runtime_error with
/// its exit status where it fails.
void measure(const std::filesystem::path& program, const std::filesystem::path& folder);

}  // namespace stepcast::app
