#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/plan/plan.h"
#include "search/least_step.h"
#include "search/other_settings.h"
#include "search/refused.h"
#include "search/score.h"
#include "workload/machines.h"

namespace stepcast::search {

/// The plans of a layout, which share the values of the first kSharedAxes, before anybody asks which of them fit.
struct Outline {
  std::uint64_t plans = 0;            ///< that the checks accept
  Time bound{};                       ///< none of them takes less, nor runs kernels for less
  std::vector<OtherSettings> unlike;  ///< of each kind of plans that have their layers in common, the first
  std::string problem;                ///< of the first plan that the checks refuse
};

/// A plan that fits.
struct FittingPlan {
  Score score;        ///< it has no less
  LeastStep bound{};  ///< by its passes
  Bytes memory{};
  OtherSettings others{};
};

/// What screening says of the plans of a layout.
struct Screened {
  std::vector<FittingPlan> fitting;
  std::uint64_t plans = 0, refused = 0, failed = 0;
  std::optional<Refused> nearest;
  std::string failure;  ///< of the first that failed
};

/// Of the fullest GPU.
Bytes peak_memory(const schedules::Plan& plan);

/// What a plan misses of a GPU's memory or a node's, or of `most` of a GPU's; nothing: it fits.
std::optional<Bytes> missing_memory(const schedules::Plan& plan, std::optional<Bytes> most);

/// Goes through the plans of a space layout by layout, and says of each layout what its plans take at least, and of
/// each plan whether it fits. What stands here is only read, so any thread may ask.
class Screening {
 public:
  /// `bounds`: outlines have bounds, which nobody asks for where every plan is simulated. `most_memory`: as of
  /// SearchOptions.
  Screening(const Space& space, Objective objective, bool bounds, std::optional<Bytes> most_memory,
            workload::Machines& machines);

  std::size_t layouts() const { return layouts_.size(); }
  schedules::Scenario scenario_of(std::size_t layout) const;
  Settings settings_of(std::size_t layout, const OtherSettings& others) const;

  /// A cut of layers by what they take counts as a plan of its own, which it is not where it is the given one: that is
  /// seen once the plans are screened.
  Outline outlined(std::size_t layout) const;
  /// What its plans take at least, with the traffic inside layers.
  Time bound_of_layers(std::size_t layout, const Outline& outline) const;
  Screened screened(std::size_t layout) const;

  /// Of a layout's plans, in the order of the space.
  static std::uint64_t place_of(std::size_t layout, std::size_t number);

 private:
  template <class Skip, class Visit>
  std::string each_accepted(std::size_t layout, const Skip& skip, const Visit& visit) const;

  const Space& space_;
  Objective objective_;
  bool bounds_;
  std::optional<Bytes> most_memory_;
  workload::Machines& machines_;
  std::vector<Settings> layouts_;
};

}  // namespace stepcast::search
