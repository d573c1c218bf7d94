#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/library.h"

namespace stepcast::app {

/// Settings that give a scenario file a plan from which a search can start, where it says nothing of what is searched:
/// micro-batches of one sample; and, where it has no sizes and its batch cannot be divided among all GPUs, tensor and
/// pipeline ranks with which it can be. Empty where it can run as it is, or nothing of that helps; and of tables,
/// folders, streams and several files. `settings`: that are laid over it. Throws InputError for what cannot be read.
std::vector<std::string> search_start(std::span<const std::string> paths, const std::vector<std::string>& settings,
                                      language::Library& library);

}  // namespace stepcast::app
