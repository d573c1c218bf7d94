#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::app {

/// Exit statuses that scripts can rely on. kFailed: something could not be done, some rows of a sweep for one (others
/// are there); it wins over kDoesNotFit. kBadInput: nothing was done.
inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2, kDoesNotFit = 3, kCannotMeasure = 4;

/// A subcommand: its name, one line of help, and what it does with the words behind its name. Returns an exit status;
/// throws InputError for the user's mistakes.
struct Command {
  std::string_view name, summary;
  int (*run)(const std::vector<std::string>& words);
};

/// Every subcommand, in the order help prints them.
std::span<const Command> commands();

}  // namespace stepcast::app
