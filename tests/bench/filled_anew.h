#pragma once

#include "sim/task_graph.h"

namespace stepcast::test {

/// When the last flow of a graph ends, in seconds, where all rates are found from nothing by progressive filling after
/// each start and each end: how the network went about every component before docs/decisions/0017, and still does about
/// small ones. Requires transfers that come after nothing or after one task of work, on routes of weight 1 without
/// limits.
double filled_anew(const sim::TaskGraph& graph);

}  // namespace stepcast::test
