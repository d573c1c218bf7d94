#include "schedules/results/share_out.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace stepcast::schedules {
namespace {

/// Gives what is missing of `whole` to those that lost most.
void give_rest(std::vector<Time>& shares, Time whole, std::span<const double> lost) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lost[i]; });
  Time rest = whole;
  for (const Time share : shares) rest -= share;
  const auto count = static_cast<std::int64_t>(shares.size());
  for (Time& share : shares) share += Time{rest.value / count};
  rest = {rest.value % count};
  for (const std::size_t i : order) {
    if (rest == Time{}) break;
    const Time one{rest > Time{} ? 1 : -1};
    shares[i] += one;
    rest -= one;
  }
}

}  // namespace

std::vector<Time> share_out(Time whole, std::span<const double> weights) {
  std::vector<Time> shares(weights.size());
  std::vector<double> lost(weights.size());
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (all == 0) {
    shares.front() = whole;
    return shares;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double exact = static_cast<double>(whole.value) * (weights[i] / all), down = std::floor(exact);
    shares[i] = {static_cast<std::int64_t>(down)};
    lost[i] = weights[i] > 0 ? exact - down : -1;
  }
  give_rest(shares, whole, lost);
  return shares;
}

std::vector<Time> means(Time whole, std::span<const Time> sums, std::int64_t count) {
  std::vector<Time> shares;
  std::vector<double> lost;
  for (const Time sum : sums) {
    shares.push_back({sum.value / count});
    lost.push_back(static_cast<double>(sum.value % count));
  }
  give_rest(shares, whole, lost);
  return shares;
}

}  // namespace stepcast::schedules
