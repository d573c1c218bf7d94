#pragma once

#include <vector>

#include "language/core/library.h"
#include "schedules/notes.h"

namespace stepcast::language {

/// What reading filled in where it matters: the software, the transport, the fabric, the precision. `tree` is what was
/// written, its layers merged, from which `scenario` was read.
std::vector<schedules::Note> notes_on_defaults(const Node& tree, const schedules::Scenario& scenario, Library& library);

}  // namespace stepcast::language
