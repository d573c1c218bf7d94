#include "app/candidates.h"

#include <algorithm>

#include "app/catalogue.h"
#include "language/configs/config_folders.h"
#include "language/scenario.h"

namespace stepcast::app {

Candidates plain_candidates(const std::vector<std::string>& words) {
  Candidates all;
  for (const std::string& word : words) all.push_back({word, {}});
  return all;
}

Candidates kind_candidates() {
  Candidates all;
  for (const CatalogueKind& kind : catalogue()) all.push_back({std::string(kind.name), {}});
  return all;
}

Candidates named_candidates(const std::vector<std::string>& kinds) {
  const language::Library library(language::config_folders());
  Candidates all;
  for (const CatalogueKind& kind : catalogue()) {
    if (std::ranges::find(kinds, kind.name) == kinds.end()) continue;
    for (const std::string& name : kind.names(library)) all.push_back({name, std::string(kind.name)});
  }
  return all;
}

Candidates next_level(const std::vector<std::string>& paths, const std::string& typed, const std::string& end) {
  Candidates all;
  for (const std::string& path : paths) {
    if (!path.starts_with(typed)) continue;
    const std::size_t dot = path.find('.', typed.size());
    const bool whole = dot == std::string::npos;
    const language::KeyInfo* key = whole ? language::find_key(language::scenario_schema(), path) : nullptr;
    Candidate next{whole ? path + end : path.substr(0, dot + 1), key == nullptr ? "" : std::string(key->help)};
    if (std::ranges::find(all, next.word, &Candidate::word) == all.end()) all.push_back(std::move(next));
  }
  return all;
}

}  // namespace stepcast::app
