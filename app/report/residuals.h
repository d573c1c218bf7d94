#pragma once

#include <string>

#include "app/report/comparison.h"

namespace stepcast::app {

/// The errors of compared rows with what makes runs alike, as language/tables/residuals.h reads them: a CSV line each.
std::string residuals_csv(const Comparison& comparison);

}  // namespace stepcast::app
