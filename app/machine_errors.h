#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/joint_fit.h"
#include "language/tables/curves.h"

namespace stepcast::app {

/// How far off each machine is: by what was fitted to all, and by what was fitted to all others (leave one machine
/// out); and the medians over the machines' points, of each stack inside a node and across nodes.
std::string machine_errors(const std::vector<language::CurveRow>& rows, const calibrate::JointFit& fit);

}  // namespace stepcast::app
