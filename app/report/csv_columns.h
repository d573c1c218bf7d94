#pragma once

#include <vector>

#include "schedules/results/quantities.h"

namespace stepcast::app {

/// The quantities that rows of many forecasts have, in the order of their columns.
std::vector<const schedules::ReportedQuantity*> csv_columns();

}  // namespace stepcast::app
