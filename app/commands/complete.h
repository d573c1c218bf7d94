#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// A word that can stand where one is being typed, and what it is.
struct Candidate {
  std::string word, help;
};

/// What the last of `words` (behind "stepcast", as far as it is typed) can become: commands, options, names of
/// configurations, keys of --set and their values. Nothing where only a file can stand. Throws as reading configs does.
std::vector<Candidate> candidates(const std::vector<std::string>& words);

}  // namespace stepcast::app
