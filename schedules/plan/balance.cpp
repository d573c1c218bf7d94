#include "schedules/plan/balance.h"

#include <algorithm>
#include <optional>

namespace stepcast::schedules {

Shares balance(const TwoKinds& kinds, const std::function<Time(std::size_t, std::int64_t)>& time) {
  const auto [first, second] = kinds.ranks;
  std::optional<Time> best;
  Shares shares{};
  for (std::int64_t mine = 1; mine * first < kinds.samples; ++mine) {
    const std::int64_t left = kinds.samples - mine * first;
    if (left % second != 0) continue;
    const Time of_first = time(0, mine), of_second = time(1, left / second);
    const Time done = std::max(of_first, of_second);
    if (!best || done < *best) {
      best = done;
      shares = {mine, left / second};
    }
    if (of_first >= of_second) break;
  }
  if (best) return shares;
  const std::int64_t equal = kinds.samples / (first + second);
  return {equal, equal};
}

bool has_unequal_shares(const TwoKinds& kinds) {
  const auto [first, second] = kinds.ranks;
  for (std::int64_t mine = 1; mine * first < kinds.samples; ++mine)
    if (const std::int64_t left = kinds.samples - mine * first; left % second == 0 && left / second != mine)
      return true;
  return false;
}

}  // namespace stepcast::schedules
