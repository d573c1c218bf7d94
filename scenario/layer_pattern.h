#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::schedules {

/// What stands in a layer's first half.
enum class Mixer : std::uint8_t { none, attention, mamba, delta_net };
/// And in its second.
enum class FeedForward : std::uint8_t { none, dense, experts };

/// A layer by its halves, of which it has one or both.
struct LayerHalves {
  Mixer mixer = Mixer::attention;
  FeedForward feed_forward = FeedForward::dense;
  friend bool operator==(const LayerHalves&, const LayerHalves&) = default;
};

/// The halves that a pattern's letters name: M Mamba-2, G gated DeltaNet, * attention, - a feed-forward block, E
/// experts. A letter is a layer of that half alone, and a mixer and what follows it in parentheses are a layer of both.
/// Absent: the text is no such pattern.
std::optional<std::vector<LayerHalves>> layer_pattern(std::string_view text);
std::string text_of_pattern(const std::vector<LayerHalves>& pattern);

}  // namespace stepcast::schedules
