#pragma once

#include <functional>

#include "app/asked.h"
#include "search/search.h"

namespace stepcast::app {

/// Whether --until and --least are asked for. Throws InputError for one without the other, and for options of a search
/// that make nothing of them.
bool asks_until(const boost::program_options::variables_map& values);

/// Answers `stepcast search --until CONDITION --least WHAT`: the least of it with which the fastest plan of the space
/// meets the condition. `best_of`: searches a space. Returns the exit status.
int search_until(const Asked& asked, const search::Space& space,
                 const std::function<search::SearchAnswer(const search::Space&)>& best_of);

}  // namespace stepcast::app
