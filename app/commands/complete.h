#pragma once

#include <string>
#include <vector>

#include "app/candidates.h"

namespace stepcast::app {

/// What the last of `words` (behind "stepcast", as far as it is typed) can become: commands, options, names of
/// configurations, keys of --set and their values. Nothing where only a file can stand. Throws as reading configs does.
Candidates candidates(const std::vector<std::string>& words);

}  // namespace stepcast::app
