#pragma once

#include <compare>
#include <cstdint>

#include "schedules/forecast.h"
#include "search/least_step.h"
#include "search/objective.h"

namespace stepcast::search {

/// What plans are told apart by, the better one less.
struct Score {
  std::int64_t first = 0, then = 0;
  std::uint64_t place = 0;  ///< in the space
  auto operator<=>(const Score&) const = default;
};

/// Of a plan with that forecast. What the objective asks of a plan is given: objective_problems() has none.
Score score_of(Objective objective, const schedules::Scenario& plan, const schedules::Forecast& forecast, Bytes memory,
               std::uint64_t place);

/// None of a plan whose step takes `least` is less.
Score least_score_of(Objective objective, const schedules::Scenario& plan, const LeastStep& least, Bytes memory,
                     std::uint64_t place);

}  // namespace stepcast::search
