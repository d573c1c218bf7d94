#include "search/layouts/graph.h"

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

}  // namespace stepcast::search
