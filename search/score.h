#pragma once

#include <compare>
#include <cstdint>

#include "schedules/forecast.h"
#include "search/objective.h"

namespace stepcast::search {

/// What plans are told apart by, the better one less.
struct Score {
  std::int64_t first = 0, then = 0;
  std::uint64_t place = 0;  ///< in the space
  auto operator<=>(const Score&) const = default;
};

/// Of a plan whose step takes `step`; `forecast` is of it, or none where `step` is only what it takes at least. What
/// the objective asks of a plan is given: objective_problems() has none.
Score score_of(Objective objective, const schedules::Scenario& plan, Time step, Bytes memory,
               const schedules::Forecast* forecast, std::uint64_t place);

}  // namespace stepcast::search
