#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/confidence/band.h"
#include "search/search.h"

namespace stepcast::app {

/// The best plans of a space, and the band of each.
struct SearchReport {
  search::Space space;
  search::SearchAnswer answer;
  search::Objective objective{};
  std::vector<std::optional<calibrate::Band>> bands;
};

std::string search_table(const SearchReport& report);
std::string search_csv(const SearchReport& report);
/// But for "seconds" the same on any machine.
std::string search_json(const SearchReport& report);

/// Every axis and the data ranks, as an object of keys and their values.
nlohmann::ordered_json settings_json(const search::FoundPlan& plan);

/// The keys that make a plan of the space's start, with their values: "parallelism.tensor=8".
/// "parallelism.tensor_grid=" takes a key away that goes with the start's value alone.
std::vector<std::string> settings_of(const search::Space& space, const search::FoundPlan& plan);

}  // namespace stepcast::app
