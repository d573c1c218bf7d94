#pragma once

#include <span>
#include <string>

#include "app/sweep/row.h"

namespace stepcast::app {

/// Rows for people: the axes, the step time, the rate, MFU and memory, and why a point has none of them.
std::string sweep_table(const SweepColumns& columns, std::span<const SweepRow> rows);

}  // namespace stepcast::app
