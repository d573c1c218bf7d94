#include "language/frameworks/tables/stage_layout.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostLetters = 1'000'000;
constexpr const char* kExpected =
    "stages of t between |, E in the first and L in the last, such as Et*3|t*4|t*3L, "
    "and as many m behind all t as there are layers of multi-token prediction";

/// Repeats in the order of Megatron-LM's two patterns: (ab)*n, then a*n.
std::string without_repeats_of(std::string layout, bool groups, const Words& words, std::string_view key) {
  for (std::size_t star = layout.find('*'); star != layout.npos; star = layout.find('*', star + 1)) {
    const bool group = star > 0 && layout[star - 1] == ')';
    if (group != groups) continue;
    const std::size_t begin = group ? layout.rfind('(', star) : star == 0 ? layout.npos : star - 1;
    std::size_t end = star + 1, times = 0;
    while (end < layout.size() && layout[end] >= '0' && layout[end] <= '9' && times < kMostLetters)
      times = times * 10 + static_cast<std::size_t>(layout[end++] - '0');
    if (begin == layout.npos || end == star + 1) refuse(words, key, kExpected);
    const std::string unit = group ? layout.substr(begin + 1, star - begin - 2) : layout.substr(begin, 1);
    if (times * unit.size() + layout.size() > kMostLetters) refuse(words, key, kExpected);
    std::string repeated;
    for (std::size_t i = 0; i < times; ++i) repeated += unit;
    layout.replace(begin, end - begin, repeated);
    star = begin;
  }
  return layout;
}

std::int64_t mtp_layers(const Words& words) {
  return words.contains("model.mtp_layers") ? whole_of(words, "model.mtp_layers", 0) : 0;
}

std::string list_of(const std::vector<std::int64_t>& layers) {
  std::string out;
  for (const std::int64_t each : layers) out += (out.empty() ? "" : ", ") + std::to_string(each);
  return "[" + out + "]";
}

}  // namespace

std::string stage_layout(const Words& words, const std::string& layers) {
  std::string numbers = layers;
  std::ranges::replace_if(
      numbers, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
  std::istringstream in(numbers);
  std::string out = "E";
  bool first = true;
  const auto add = [&](char letter, std::int64_t count) {
    if (count > 0) out += letter + ("*" + std::to_string(count));
  };
  std::int64_t left = whole_of(words, "model.layers"), extra = mtp_layers(words);
  for (std::int64_t each = 0; in >> each; first = false) {
    if (!first) out += '|';
    const std::int64_t plain = std::min(each, left);
    left -= plain;
    add('t', plain);
    add('m', each - plain);
    extra -= each - plain;
  }
  add('m', extra);
  return out + ",L";
}

std::string layers_of_layout(const Words& words, std::string_view key) {
  std::string layout = text_of(words, key);
  std::erase(layout, ',');
  layout = without_repeats_of(without_repeats_of(layout, true, words, key), false, words, key);
  if (!layout.starts_with('E') || !layout.ends_with('L')) refuse(words, key, kExpected);
  std::vector<std::int64_t> layers{0};
  std::int64_t extra = 0, in_last = 0;  // of multi-token prediction: all, and those of the last chunk
  for (const char c : layout.substr(1, layout.size() - 2)) {
    if (c == '|') {
      layers.push_back(0);
      in_last = 0;
      continue;
    }
    if (c != 'm' && (c != 't' || extra > 0)) refuse(words, key, kExpected);
    ++layers.back();
    extra += c == 'm';
    in_last += c == 'm';
  }
  if (extra != mtp_layers(words)) refuse(words, key, kExpected);
  if (in_last == extra) layers.back() -= extra;
  return list_of(layers);
}

std::string layers_beside(const Words& words, std::string_view first, std::string_view last, std::int64_t pipeline,
                          std::int64_t chunks) {
  const std::string_view said = words.contains(first) ? first : last;
  const std::int64_t in_first = words.contains(first) ? whole_of(words, first, 0) : -1,
                     in_last = words.contains(last) ? whole_of(words, last, 0) : -1;
  const std::int64_t others = pipeline - (in_first >= 0 ? 1 : 0) - (in_last >= 0 ? 1 : 0);
  const std::int64_t rest =
      whole_of(words, "model.layers") - std::max<std::int64_t>(in_first, 0) - std::max<std::int64_t>(in_last, 0);
  const auto divides = [&](std::int64_t layers) { return layers % chunks == 0; };
  constexpr std::int64_t kMostChunks = 1'000'000;
  if (product({pipeline, chunks}) > kMostChunks || rest < 0 || others < 0 || (others == 0) != (rest == 0) ||
      (others > 0 && rest % others != 0))
    refuse(words, said, "as many layers as leave equal shares for the other stages");
  std::vector<std::int64_t> stages(static_cast<std::size_t>(pipeline), others > 0 ? rest / others : 0);
  if (in_first >= 0) stages.front() = in_first;
  if (in_last >= 0) stages.back() = in_last;
  if (!std::ranges::all_of(stages, divides)) refuse(words, said, "as many layers as divide among the virtual stages");
  std::vector<std::int64_t> layers;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (const std::int64_t each : stages) layers.push_back(each / chunks);
  return list_of(layers);
}

}  // namespace stepcast::language
