#include "search/layouts/graph.h"

#include <algorithm>
#include <utility>

namespace stepcast::search {

ChosenLayouts layouts_of(const LayoutGraph& graph, std::vector<std::uint32_t> choices) {
  ChosenLayouts chosen{.choices = std::move(choices)};
  for (std::size_t place = 0; place < graph.operators.size(); ++place) {
    const LayoutChoice& one = graph.operators[place][chosen.choices[place]];
    chosen.time += one.time;
    chosen.bytes += one.bytes;
  }
  for (const LayoutConversion& conversion : graph.conversions)
    chosen.time += conversion.times[chosen.choices[conversion.from]][chosen.choices[conversion.to]];
  return chosen;
}

Bytes fewest_bytes(const LayoutGraph& graph) {
  Bytes all{};
  for (const std::vector<LayoutChoice>& choices : graph.operators)
    all += std::ranges::min(choices, {}, &LayoutChoice::bytes).bytes;
  return all;
}

Time least_time(const LayoutGraph& graph) {
  Time all{};
  for (const std::vector<LayoutChoice>& choices : graph.operators)
    all += std::ranges::min(choices, {}, &LayoutChoice::time).time;
  return all;
}

}  // namespace stepcast::search
