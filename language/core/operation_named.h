#pragma once

#include <string>

#include "collectives/operation.h"

namespace stepcast::language {

/// The collective that a word names: "all_reduce" and its like. Throws InputError at `place` for another word.
collectives::Operation operation_named(const std::string& word, const std::string& place);

}  // namespace stepcast::language
