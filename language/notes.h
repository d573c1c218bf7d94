#pragma once

#include <string>
#include <vector>

#include "language/core/library.h"
#include "schedules/notes.h"

namespace stepcast::language {

/// What reading filled in where it matters: the software, the transport, the fabric, the precision. `tree` is what was
/// written, its layers merged, from which `scenario` was read.
std::vector<schedules::Note> notes_on_defaults(const Node& tree, const schedules::Scenario& scenario, Library& library);

/// A key below `software`, and the profile's key whose value replaces it.
struct ProfiledKey {
  std::string key, instead;
};

/// Those of the scenario that was read from `tree`; none without a profile.
std::vector<ProfiledKey> profiled_keys(const Node& tree, const schedules::Scenario& scenario, Library& library);

}  // namespace stepcast::language
