#include "search/layouts/graph.h"

#include <algorithm>
#include <utility>

namespace stepcast::search {

std::uint32_t LayoutGraph::count_blocks() const { return blocks.empty() ? 1 : std::ranges::max(blocks) + 1; }

ChosenLayouts layouts_of(const LayoutGraph& graph, std::vector<std::uint32_t> choices) {
  ChosenLayouts chosen{.choices = std::move(choices)};
  std::vector<Bytes> working(graph.count_blocks());
  for (std::size_t place = 0; place < graph.operators.size(); ++place) {
    const LayoutChoice& one = graph.operators[place][chosen.choices[place]];
    chosen.time += one.time;
    chosen.bytes += one.bytes;
    working[graph.block(place)] += one.working;
  }
  chosen.bytes += std::ranges::max(working);
  for (const LayoutConversion& conversion : graph.conversions)
    chosen.time += conversion.times[chosen.choices[conversion.from]][chosen.choices[conversion.to]];
  return chosen;
}

Bytes fewest_bytes(const LayoutGraph& graph) {
  Bytes always{};
  std::vector<Bytes> more(graph.count_blocks());  // while a block is at work
  for (std::size_t place = 0; place < graph.operators.size(); ++place) {
    const std::vector<LayoutChoice>& choices = graph.operators[place];
    const Bytes least = std::ranges::min(choices, {}, &LayoutChoice::bytes).bytes;
    const LayoutChoice at_work =
        std::ranges::min(choices, {}, [](const LayoutChoice& one) { return one.bytes + one.working; });
    always += least;
    more[graph.block(place)] += at_work.bytes + at_work.working - least;
  }
  return always + std::ranges::max(more);
}

Time least_time(const LayoutGraph& graph) {
  Time all{};
  for (const std::vector<LayoutChoice>& choices : graph.operators)
    all += std::ranges::min(choices, {}, &LayoutChoice::time).time;
  return all;
}

}  // namespace stepcast::search
