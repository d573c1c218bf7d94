#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/given.h"
#include "language/core/library.h"
#include "language/question.h"

namespace stepcast::language {

/// Reads scenario files (.yaml, .yml; .json where named), runs tables (.csv) and folders of both (recursive, sorted by
/// path), in the order given. "-" is standard input. A stream (standard input, a pipe, a descriptor) is a table where
/// its first line that says something is one of key paths: without a colon or brackets. `settings` are "key=value",
/// laid over each scenario ("key=" takes a key away), with the keys that other options give. What is wrong with one
/// scenario is in its `error`, and so is what is wrong with a file of a folder, or what `more` finds. Throws InputError
/// where the command cannot be meant: a missing path, an unknown key in a setting, a table that is named and has an
/// unknown key in its header or is no CSV.
std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library, std::vector<Given> options = {}, const MoreChecks& more = {});

/// Reads one scenario that a program made: `tree` is what its file would say, and stands under `settings`. Its place is
/// what messages call it, and files that it names are looked for in the working directory. What is wrong with it is in
/// its error. Throws InputError as read_questions does.
Question read_question(const Node& tree, std::span<const std::string> settings, Library& library,
                       const MoreChecks& more = {});

}  // namespace stepcast::language
