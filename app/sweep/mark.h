#pragma once

#include <span>
#include <string>

#include "app/sweep/grid.h"
#include "language/variants.h"

namespace stepcast::app {

/// Sixteen hexadecimal digits that tell one sweep from another: of the scenario, the contents of the files that it and
/// the axes name, the axes, `more` (what else was asked) and the version of stepcast. Not of where files lie, of
/// threads or of the shard. Reads what the axes name into `base`. Throws InputError for a name that is no file.
std::string sweep_mark(language::Variants& base, const SweepGrid& grid, std::span<const std::string> more);

}  // namespace stepcast::app
