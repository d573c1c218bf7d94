#include "collectives/packing_program.h"

#include <algorithm>
#include <cstddef>

namespace stepcast::collectives {

std::vector<double> best_packing(const std::vector<std::vector<double>>& load, const std::vector<double>& capacity) {
  const std::size_t n = load.size(), m = capacity.size(), width = n + m + 1;
  const double scale = m == 0 ? 1 : std::max(*std::ranges::max_element(capacity), 1e-300);
  constexpr double kTiny = 1e-9;
  // Rows of the tableau: constraints with their slacks; the last: the costs, negated.
  std::vector<std::vector<double>> row(m + 1, std::vector<double>(width));
  std::vector<std::size_t> basic(m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) row[i][j] = load[j][i];
    row[i][n + i] = 1;
    row[i].back() = capacity[i] / scale;
    basic[i] = n + i;
  }
  for (std::size_t j = 0; j < n; ++j) row[m][j] = -1;
  while (true) {
    std::size_t enter = 0;
    while (enter + 1 < width && row[m][enter] > -kTiny) ++enter;
    if (enter + 1 == width) break;
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
    const double pivot = row[leave][enter];
    for (double& entry : row[leave]) entry /= pivot;
    for (std::size_t i = 0; i <= m; ++i) {
      const double factor = row[i][enter];
      if (i == leave || factor == 0) continue;
      for (std::size_t j = 0; j < width; ++j) row[i][j] -= factor * row[leave][j];
    }
    basic[leave] = enter;
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < m; ++i) {
    if (basic[i] < n) x[basic[i]] = std::max(row[i].back(), 0.0) * scale;
  }
  return x;
}

}  // namespace stepcast::collectives
