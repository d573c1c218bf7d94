#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/units.h"

namespace stepcast::search {

/// What one layout of an operator takes on a device.
struct LayoutChoice {
  Time time{};
  Bytes bytes{};    ///< all the while
  Bytes working{};  ///< beside these while its block is at work
};

/// What it takes to bring a tensor from the layout in which operator `from` leaves it to the one in which operator `to`
/// reads it, for each choice of the one and of the other.
struct LayoutConversion {
  std::uint32_t from = 0, to = 0;  ///< places in LayoutGraph::operators; the same: both choices are one
  std::vector<std::vector<Time>> times;
};

/// Operators that each have some layouts to choose from, none without. The time of an answer is that of its choices and
/// of all conversions between them. Its bytes are those of all choices, and the most that those of a block take while
/// it is at work; they are no more than the limit, if there is one. (Zheng et al. 2022, "Alpa", arXiv 2201.12023, eq.
/// 1: c and d of a node are summed here, R of an edge is a conversion.)
struct LayoutGraph {
  std::vector<std::vector<LayoutChoice>> operators;
  std::vector<LayoutConversion> conversions;
  std::optional<Bytes> limit{};
  std::vector<std::uint32_t> blocks{};  ///< of each operator; empty: all are of one

  std::uint32_t block(std::size_t place) const { return blocks.empty() ? 0 : blocks[place]; }
  std::uint32_t count_blocks() const;
};

/// An answer: the place of each operator's choice, and what they take together.
struct ChosenLayouts {
  std::vector<std::uint32_t> choices;
  Time time{};
  Bytes bytes{};
};

/// What these choices take.
ChosenLayouts layouts_of(const LayoutGraph& graph, std::vector<std::uint32_t> choices);

/// No choices take fewer bytes, nor less time: what each operator takes at least, whatever the others have. Of bytes,
/// with one block at work after the other, the most.
Bytes fewest_bytes(const LayoutGraph& graph);
Time least_time(const LayoutGraph& graph);

}  // namespace stepcast::search
