#pragma once

#include <vector>

#include "app/read/library.h"
#include "schedules/notes.h"

namespace stepcast::app {

/// What reading filled in where it matters: the software, the transport, the fabric, the precision. `tree` is what was
/// written, its layers merged, from which `scenario` was read.
std::vector<schedules::Note> notes_on_defaults(const Node& tree, const schedules::Scenario& scenario, Library& library);

}  // namespace stepcast::app
