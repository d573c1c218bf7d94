#include "collectives/search/packing_program.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stepcast::collectives {

std::vector<double> best_packing(const std::vector<std::vector<double>>& load, const std::vector<double>& capacity) {
  const std::size_t n = load.size(), m = capacity.size();
  const double scale = m == 0 ? 1 : std::max(*std::ranges::max_element(capacity), 1e-300);
  constexpr double kTiny = 1e-9;
  // The condensed tableau: a row for each constraint's basic variable, the last for the costs, negated; a column for
  // each variable that is not basic, the last for what is left of the capacity. Variables below n are x, then slacks.
  std::vector<std::vector<double>> row(m + 1, std::vector<double>(n + 1));
  std::vector<std::size_t> basic(m), other(n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) row[i][j] = load[j][i];
    row[i].back() = capacity[i] / scale;
    basic[i] = n + i;
  }
  for (std::size_t j = 0; j < n; ++j) row[m][j] = -1, other[j] = j;
  std::size_t idle = 0;  // pivots since the sum last grew
  while (true) {
    // The steepest column; where that has long gained nothing, the first, which ends every circle.
    std::size_t enter = n;
    for (std::size_t j = 0; j < n; ++j) {
      if (row[m][j] >= -kTiny) continue;
      const bool steeper = enter == n || row[m][j] < row[m][enter];
      if (enter == n || (idle > n + m ? other[j] < other[enter] : steeper)) enter = j;
    }
    if (enter == n) break;
    std::size_t leave = m;
    double least = 0;
    for (std::size_t i = 0; i < m; ++i) {
      if (row[i][enter] <= kTiny) continue;
      const double ratio = row[i].back() / row[i][enter];
      if (leave == m || ratio < least - 1e-12 || (ratio <= least + 1e-12 && basic[i] < basic[leave])) {
        leave = i;
        least = ratio;
      }
    }
    if (leave == m) break;  // nothing limits it: excluded by what is required
    idle = least > 0 ? 0 : idle + 1;
    const double pivot = row[leave][enter];
    row[leave][enter] = 1;
    for (double& entry : row[leave]) entry /= pivot;
    for (std::size_t i = 0; i <= m; ++i) {
      const double factor = row[i][enter];
      if (i == leave || factor == 0) continue;
      row[i][enter] = 0;
      for (std::size_t j = 0; j <= n; ++j) row[i][j] -= factor * row[leave][j];
    }
    std::swap(basic[leave], other[enter]);
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < m; ++i) {
    if (basic[i] < n) x[basic[i]] = std::max(row[i].back(), 0.0) * scale;
  }
  return x;
}

}  // namespace stepcast::collectives
