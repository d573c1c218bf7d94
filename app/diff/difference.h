#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/diff/side.h"
#include "schedules/results/time_parts.h"

namespace stepcast::app {

/// A part of the step on both sides.
struct PartDifference {
  std::string_view key, title;
  schedules::PartGroup group{};
  Time a{}, b{};
  Time difference() const { return b - a; }
};

/// A kind of memory of the fullest stage of each side.
struct MemoryDifference {
  std::string_view key, title;
  Bytes a{}, b{};
  Bytes difference() const { return b - a; }
};

/// A key that the two scenarios say differently; nothing: that side does not say it.
struct KeyDifference {
  std::string key;
  std::optional<std::string> a, b;
};

/// How two steps differ. The parts add up to each side's step, and their differences to the steps' difference, exactly:
/// each part is the mean over the side's stages, rounded to whole picoseconds so that they add up.
struct StepDifference {
  std::vector<PartDifference> parts;
  std::vector<MemoryDifference> memory;  ///< they add up to the fullest stage's peak; empty: a side has none
  std::vector<KeyDifference> keys;       ///< by name
  bool keys_known = false;               ///< both sides are scenarios
  /// By stage, as above, where both sides have as many, more than one.
  std::vector<std::vector<PartDifference>> stages;
};

/// `stage`: of the sides that have several, this one instead of the mean. Throws InputError where it is not there.
StepDifference difference(const DiffSide& a, const DiffSide& b, std::optional<std::uint32_t> stage);

}  // namespace stepcast::app
