#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"

namespace stepcast::language {

/// "Key=Value" of a file that Slurm reads or prints.
struct SlurmPair {
  std::string key;    ///< as written; Slurm does not tell upper from lower case
  std::string value;  ///< with blanks inside where words without '=' follow
  Place place;        ///< of the key
  Place value_place;
};

/// Whether two keys are the same to Slurm.
bool same_key(std::string_view a, std::string_view b);

/// One line of pairs for each line of the text that has any. A backslash at the end goes on with the next line; '#'
/// begins a comment where `comments` says so. Throws InputError for a line that begins with no key.
std::vector<std::vector<SlurmPair>> read_slurm_pairs(std::string_view text, const std::string& file, bool comments);

}  // namespace stepcast::language
