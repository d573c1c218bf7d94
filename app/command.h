#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/candidates.h"

namespace stepcast::app {

/// Exit statuses that scripts can rely on. kFailed: something could not be done, some rows of a table for one (others
/// are there); it wins over kDoesNotFit. kBadInput: nothing was done.
inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2, kDoesNotFit = 3, kCannotMeasure = 4;

struct CommandLine;

/// A subcommand: its name, one line of help, what words it understands, and what it does with those behind its name.
/// `run` returns an exit status and throws InputError for the user's mistakes.
struct Command {
  std::string_view name, summary;
  CommandLine (*line)();
  int (*run)(const std::vector<std::string>& words);
  bool hidden = false;  ///< for programs: no help lists it
  /// What can stand where `typed` is being written and no option is, for completion; nullptr: files.
  Candidates (*words)(const std::string& typed) = nullptr;
};

/// Every subcommand, in the order help prints them.
std::span<const Command* const> commands();

/// Those that help lists, for completion.
Candidates command_candidates();

/// By name. Throws InputError with all names.
const Command& find_command(const std::string& name);

}  // namespace stepcast::app
