#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "app/sweep/names.h"
#include "app/sweep/row.h"
#include "language/variants.h"
#include "schedules/forecast.h"
#include "workload/machines.h"

namespace stepcast::app {

/// Answers the points of a sweep, from several threads. All share the machines and what was timed on them.
class PointAnswers {
 public:
  struct PointsAsked {
    const SweepGrid& grid;
    const SweepNames& names;
    const std::vector<Condition>& conditions;
    const SweepColumns& columns;
    schedules::ForecastOptions forecast{};
  };
  /// `base`: copied for each of `threads`.
  PointAnswers(const language::Variants& base, const PointsAsked& asked, unsigned threads);

  /// The row of a point; nothing where a condition leaves it out. `thread`: below `threads`, and of one caller at a
  /// time. The row does not depend on it.
  std::optional<SweepRow> row(unsigned thread, std::size_t point);

  /// Whether a row could not be made for a reason that is not its plan's: memory that ran out, a mistake of stepcast's.
  bool some_failed() const { return some_failed_; }

 private:
  bool holds(SweepNames::Needs needs, const KnownPoint& point) const;
  void forecast(Answer& answer);

  const PointsAsked asked_;
  std::vector<SweepNames::Needs> needs_;  ///< of each condition
  std::vector<language::Variants> variants_;
  workload::Machines machines_;
  std::shared_mutex memory_;  ///< shared: a forecast beside others; alone: one that takes all the memory that there is
  std::atomic<bool> some_failed_{false};
};

}  // namespace stepcast::app
