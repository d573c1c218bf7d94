#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.h"
#include "sim/units.h"

namespace stepcast::calibrate {

/// A phase that the measurement states, or what it leaves.
struct PhaseGap {
  std::string phase;
  double times = 1;                             ///< how often it stands in the step
  std::optional<Time> measured{}, predicted{};  ///< once; nothing: what no phase states
  double gap_s = 0;                             ///< seconds of the step: measured less predicted, times `times`
};

/// What changing one term alone would do.
struct TermGap {
  std::string_view term, basis;
  double share = 0;                ///< of the step's time that goes with it: d ln(step) / d ln(term)
  std::optional<double> factor{};  ///< on the term's time that makes the prediction right; nothing: no factor to 8 does
  double most = 1;
  bool plausible = false;  ///< the factor is within `most`, either way
  /// Mean |ln(predicted / measured)| of the neighbours with that factor; nothing without a factor or neighbours.
  std::optional<double> neighbours{};
};

struct Explanation {
  Time measured{}, predicted{};
  std::vector<PhaseGap> phases;  ///< gaps add up to measured - predicted; empty: the measurement states none
  std::vector<TermGap> terms;    ///< most likely wrong first
  std::size_t neighbours = 0;
  std::optional<double> neighbours_error{};   ///< as it is: mean |ln(predicted / measured)|
  std::optional<std::string_view> suspect{};  ///< the term most likely wrong, if one is
  std::string verdict;                        ///< a sentence
};

/// Why the prediction of a measured row is off. Each term is changed alone until the prediction is right; a term is
/// likely wrong if that change is plausible and makes the neighbours, measured rows of the same GPU and software,
/// better too. Costs a few hundred forecasts. Requires measured step times and scenarios that can run.
Explanation explain(const schedules::Scenario& row, std::span<const schedules::Scenario* const> neighbours);

}  // namespace stepcast::calibrate
