#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// A word that can stand where one is being typed, and what it is.
struct Candidate {
  std::string word, help;
};
using Candidates = std::vector<Candidate>;

/// The words, without help.
Candidates plain_candidates(const std::vector<std::string>& words);

/// The kinds of the catalogue: "gpus", ...
Candidates kind_candidates();

/// Names of some kinds of the catalogue. Throws as reading configs does.
Candidates named_candidates(const std::vector<std::string>& kinds);

/// Of dotted paths the parts up to the first dot behind what is typed: 'par' gives 'parallelism.', that gives
/// 'parallelism.tensor', with its help where it is a key of a scenario. `end` stands behind a whole path.
Candidates next_level(const std::vector<std::string>& paths, const std::string& typed, const std::string& end = "");

}  // namespace stepcast::app
