#pragma once

#include <cstddef>
#include <string>

#include "app/diff/difference.h"

namespace stepcast::app {

/// Where the steps go, part by part. `width`: columns that the bars may reach to.
std::string diff_parts(const DiffSide& a, const DiffSide& b, const StepDifference& difference, std::size_t width);
/// The same, with all else that is told of two steps.
std::string diff_table(const DiffSide& a, const DiffSide& b, const StepDifference& difference, std::size_t width);
/// docs/results.schema.json: diff. Times also in whole picoseconds.
std::string diff_json(const DiffSide& a, const DiffSide& b, const StepDifference& difference);
/// Exact seconds and bytes: what,key,unit,a,b,difference.
std::string diff_csv(const DiffSide& a, const DiffSide& b, const StepDifference& difference);

}  // namespace stepcast::app
