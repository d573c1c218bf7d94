#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "scenario/scenario.h"
#include "sim/units.h"

namespace stepcast::search {

/// A rate of a resource, as its data sheet says it.
using RatedAt = std::variant<Bandwidth, FlopRate>;

/// What goes over the rates and the times of one resource.
struct ResourceVisitor {
  virtual void rate(double& per_second) = 0;
  virtual void time(Time& time) = 0;
  virtual ~ResourceVisitor() = default;
};

/// Something of a machine that a step may wait for, and that could be faster. Every rate and every time that a forecast
/// reads belongs to exactly one resource, so that a machine that is twice as good in all of them takes half the step.
struct RatedResource {
  std::string_view name;     ///< on the command line and in results: "network"
  std::string_view meaning;  ///< which rates or times of the scenario it is made of
  /// Visits every rate and time of it that the scenario has.
  void (*visit)(schedules::Scenario&, ResourceVisitor&);
  /// The rate that stands for it; nothing where the scenario has none. None: it is made of times.
  std::optional<RatedAt> (*rated_at)(const schedules::Scenario&) = nullptr;
};

/// Every resource, in the order in which help and docs have them.
std::span<const RatedResource> resources();

/// Makes the resource so many times as good: its rates `factor` times as high, its times `factor` times as short.
/// Requires factor > 0. What was measured as a share of a rate stays that share.
void improve(schedules::Scenario& scenario, const RatedResource& resource, double factor);

/// Whether the scenario has any rate or time of it that is not zero.
bool has(const schedules::Scenario& scenario, const RatedResource& resource);

}  // namespace stepcast::search
