#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/report/answer.h"
#include "app/sweep/condition.h"
#include "app/sweep/grid.h"
#include "language/core/tree.h"
#include "schedules/results/quantities.h"

namespace stepcast::app {

/// What is known of a point of a sweep, more and more as it is answered.
struct KnownPoint {
  std::span<const std::size_t> values;           ///< of the axes
  const language::Question* question = nullptr;  ///< where its scenario was read
  const Answer* answer = nullptr;                ///< where it was forecast
};

/// The names that conditions of a sweep may use: keys that an axis or the scenario gives, the sizes of the plan
/// (parallelism.data, cluster.gpus, ...) whether they are written or not, the quantities of results, and `fits`.
class SweepNames {
 public:
  /// `written`: the scenario, of which single values can be spoken of that no axis changes.
  SweepNames(const SweepGrid& grid, const language::Node& written);

  Vocabulary vocabulary();

  /// How much of a point has to be known for a condition.
  enum class Needs : char { axes, scenario, answer };
  Needs needs(const Condition& condition) const;

  bool holds(const Condition& condition, const KnownPoint& point) const;

 private:
  struct OfAxis {
    std::size_t axis = 0;
    std::vector<Datum> values;
  };
  using PlanSize = std::uint32_t (*)(const schedules::Scenario&);
  struct Fits {};
  using From = std::variant<OfAxis, Datum, PlanSize, const schedules::ReportedQuantity*, Fits>;

  std::optional<NamedDatum> find(const std::string& name);
  std::optional<NamedDatum> find_key(const std::string& name);
  NamedDatum keep(NamedDatum named, From from);
  Datum value(std::size_t name, const KnownPoint& point) const;

  const SweepGrid& grid_;
  const language::Node& written_;
  std::vector<From> from_;
};

}  // namespace stepcast::app
