#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/given.h"
#include "language/core/library.h"
#include "language/question.h"

namespace stepcast::language {

/// Reads scenario files (.yaml, .yml), runs tables (.csv) and folders of both (recursive, sorted by path), in the order
/// given. "-" is standard input. A stream (standard input, a pipe, a descriptor) is a table where its first line that
/// says something is one of key paths: without a colon or brackets. `settings` are "key=value", laid over each scenario
/// ("key=" takes a key away), with the keys that other options give. What is wrong with one scenario is in its `error`,
/// and so is what is wrong with a file of a folder, or what `more` finds. Throws InputError where the command cannot be
/// meant: a missing path, an unknown key in a setting, a table that is named and has an unknown key in its header or is
/// no CSV.
std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library, std::vector<Given> options = {}, const MoreChecks& more = {});

}  // namespace stepcast::language
