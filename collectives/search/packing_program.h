#pragma once

#include <vector>

namespace stepcast::collectives {

/// max sum of x with sum over j of load[j][i] x[j] <= capacity[i] for every i, x >= 0: the x of one best corner, which
/// has no more positive entries than there are capacities. Requires capacities and loads of 0 or more, and of every j
/// one load above 0. The simplex method with Dantzig's rule, and with Bland's, which is slow but never runs in a
/// circle, where that is stuck (Dantzig 1951; Bland, Math. Oper. Res. 2(2), 1977).
std::vector<double> best_packing(const std::vector<std::vector<double>>& load, const std::vector<double>& capacity);

}  // namespace stepcast::collectives
