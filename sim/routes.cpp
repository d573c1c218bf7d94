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
  const auto place_of = [&](std::span<const Use> list) {
    return static_cast<std::uint32_t>(ways.halves[ways.halves.number_of_list(list)].data() - ways.halves.all().data());
  };
  const std::uint32_t first = place_of(uses.first(half)), second = place_of(uses.subspan(half));
  ways.routes.push_back({static_cast<std::uint32_t>(uses.size()), first, second, number_of(terms)});
}

}  // namespace stepcast::sim
