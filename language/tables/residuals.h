#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/confidence/band.h"

namespace stepcast::language {

/// The errors that bands are made from: a CSV that `stepcast validate --residuals` wrote (configs/residuals.csv). None
/// where there is no such file: configs of somebody's own need not have it. Throws InputError for what is no such
/// table.
std::vector<calibrate::Residual> read_residuals(const std::filesystem::path& file);

}  // namespace stepcast::language
