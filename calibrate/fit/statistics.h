#pragma once

#include <optional>
#include <span>

namespace stepcast::calibrate {

/// Mean of the absolute values. Nothing for an empty list.
std::optional<double> mean_absolute(std::span<const double> errors);

/// Median; of an even count the mean of the two in the middle.
std::optional<double> median(std::span<const double> values);

/// Spearman's rank correlation, ties ranked by their average. Nothing for fewer than two pairs or where one side is all
/// equal.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace stepcast::calibrate
