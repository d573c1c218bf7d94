#include "calibrate/fit/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace stepcast::calibrate {
namespace {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) rank[order[i]] = static_cast<double>(first + last) / 2;
    first = last + 1;
  }
  return rank;
}

}  // namespace

std::optional<double> mean_absolute(std::span<const double> errors) {
  if (errors.empty()) return std::nullopt;
  double sum = 0;
  for (const double e : errors) sum += std::abs(e);
  return sum / static_cast<double>(errors.size());
}

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) return std::nullopt;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

}  // namespace stepcast::calibrate
