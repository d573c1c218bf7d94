#include "sim/routes.h"

#include <algorithm>

namespace stepcast::sim {

Routes::Ways& Routes::own() {
  if (ways_.use_count() > 1) ways_ = std::make_shared<Ways>(*ways_);
  return *ways_;
}

/// Neighbours mostly have the terms of one of a few kinds of route: the last ones are looked at, and what is not among
/// them is kept once more.
std::uint32_t Routes::number_of(const Terms& terms) {
  constexpr std::size_t kLooked = 8;
  const std::size_t size = terms_.size();
  for (std::size_t back = 1; back <= std::min(size, kLooked); ++back)
    if (terms_[size - back] == terms) return static_cast<std::uint32_t>(size - back);
  terms_.push_back(terms);
  return static_cast<std::uint32_t>(size);
}

void Routes::add(std::span<const Use> uses, const Terms& terms) {
  Ways& ways = own();
  const std::size_t half = (uses.size() + 1) / 2;
  ways.routes.push_back(
      {ways.halves.number_of_list(uses.first(half)), ways.halves.number_of_list(uses.subspan(half)), number_of(terms)});
}

}  // namespace stepcast::sim
