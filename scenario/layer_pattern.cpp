#include "scenario/layer_pattern.h"

namespace stepcast::schedules {
namespace {

/// Letters of the halves, in the order of their names.
constexpr std::string_view kMixers = " *MG", kFeedForwards = " -E";

template <class Half>
std::optional<Half> half_of(std::string_view letters, char letter) {
  const std::size_t place = letters.find(letter);
  if (place == std::string_view::npos || place == 0) return {};
  return static_cast<Half>(place);
}

}  // namespace

std::optional<std::vector<LayerHalves>> layer_pattern(std::string_view text) {
  std::vector<LayerHalves> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      if (i + 3 >= text.size() || text[i + 3] != ')') return {};
      const auto mixer = half_of<Mixer>(kMixers, text[i + 1]);
      const auto behind = half_of<FeedForward>(kFeedForwards, text[i + 2]);
      if (!mixer || !behind) return {};
      out.push_back({*mixer, *behind});
      i += 3;
    } else if (const auto mixer = half_of<Mixer>(kMixers, text[i])) {
      out.push_back({*mixer, FeedForward::none});
    } else if (const auto behind = half_of<FeedForward>(kFeedForwards, text[i])) {
      out.push_back({Mixer::none, *behind});
    } else {
      return {};
    }
  }
  if (out.empty()) return {};
  return out;
}

std::string text_of_pattern(const std::vector<LayerHalves>& pattern) {
  std::string out;
  for (const LayerHalves& layer : pattern) {
    const bool both = layer.mixer != Mixer::none && layer.feed_forward != FeedForward::none;
    if (both) out += '(';
    if (layer.mixer != Mixer::none) out += kMixers[static_cast<std::size_t>(layer.mixer)];
    if (layer.feed_forward != FeedForward::none) out += kFeedForwards[static_cast<std::size_t>(layer.feed_forward)];
    if (both) out += ')';
  }
  return out;
}

}  // namespace stepcast::schedules
