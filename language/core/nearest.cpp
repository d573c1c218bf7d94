#include "language/core/nearest.h"

#include <algorithm>
#include <vector>

namespace stepcast::language {
namespace {

constexpr std::size_t kLongestCompared = 64;
constexpr std::size_t kLongEnough = 4;  // to mean the beginning of a name rather than another short one

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(char a, char b) {
  const auto plain = [](char c) { return c == '_' || c == ' ' ? '-' : lower(c); };
  return plain(a) == plain(b);
}

/// Edits (insert, delete, replace, swap of neighbours) from a to b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0u : 1u)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

bool starts_with(std::string_view name, std::string_view word) {
  return name.size() >= word.size() && std::equal(word.begin(), word.end(), name.begin(), same);
}

/// Whether `name` goes on where the word ends: 'dgx-a100-80gb' for 'dgx-a100'.
bool continues(std::string_view name, std::string_view word) {
  return name.size() > word.size() && starts_with(name, word) && (name[word.size()] == '-' || name[word.size()] == '_');
}

/// Whether they begin alike for nearly all of the name: 'core_attn' for 'core_attention'.
bool begin_alike(std::string_view name, std::string_view word) {
  constexpr std::size_t kFewest = 5;
  const auto end = std::mismatch(name.begin(), name.end(), word.begin(), word.end(), same).first;
  const auto alike = static_cast<std::size_t>(end - name.begin());
  return alike >= kFewest && alike + 1 >= name.size();
}

/// How many letters the two have in common in one piece, if there is a digit among them: '4090' of 'rtx4090' and
/// 'pcie-8x4090'; else 0.
std::size_t common_part(std::string_view a, std::string_view b) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t length = 0;
      bool digit = false;
      while (i + length < a.size() && j + length < b.size() && same(a[i + length], b[j + length])) {
        digit = digit || (a[i + length] >= '0' && a[i + length] <= '9');
        ++length;
      }
      if (digit) most = std::max(most, length);
    }
  return most;
}

/// The names that have the longest part in common with the word, if it is as long as a model's number and half of the
/// word.
std::vector<std::string_view> with_a_common_part(std::string_view word, std::span<const std::string_view> names) {
  std::size_t most = std::max(kLongEnough, (word.size() + 1) / 2);
  std::vector<std::string_view> found;
  if (word.size() > kLongestCompared) return found;
  for (const std::string_view name : names) {
    const std::size_t common = common_part(word, name);
    if (common > most) found.clear();
    if (common >= most) found.push_back(name);
    most = std::max(most, common);
  }
  return found;
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  if (word.empty() || word.size() > kLongestCompared) return {};
  if (word.size() >= kLongEnough) {
    const auto longer = std::ranges::find_if(names, [&](std::string_view name) { return continues(name, word); });
    if (longer != names.end()) return *longer;
  }
  std::string_view best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t edits = distance(word, name);
    if (edits < fewest && edits < name.size()) {
      fewest = edits;
      best = name;
    }
  }
  if (!best.empty() || word.size() < 3) return best;
  for (const std::string_view name : names) {  // 'dgx-a100' for 'dgx-a100-80gb', 'batch' for 'global_batch'
    if (starts_with(name, word)) return name;
  }
  for (const std::string_view name : names) {  // the shortest: 'dgx-h100' for 'h100', before other machines with them
    const bool holds = std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
    if (holds && (best.empty() || name.size() < best.size())) best = name;
  }
  if (!best.empty()) return best;
  for (const std::string_view name : names) {
    if (begin_alike(name, word)) return name;
  }
  return {};
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kMostNear = 4;
  std::vector<std::string_view> all;
  const std::string_view near = nearest(word, names);
  if (near.empty()) {
    all = with_a_common_part(word, names);
    if (all.empty() || all.size() > kMostNear) return {};
  }
  for (const std::string_view name : names)
    if (word.size() >= kLongEnough && continues(name, word) && all.size() < kMostNear) all.push_back(name);
  if (all.empty()) all.push_back(near);
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < all.size(); ++i)
    text.append(i == 0 ? "'" : i + 1 < all.size() ? ", '" : " or '").append(all[i]).append("'");
  return text + '?';
}

std::string one_of(std::string_view word, std::span<const std::string_view> names, std::size_t most) {
  const std::string near = did_you_mean(word, names);
  if (near.empty()) most = names.size();
  std::string list = names.size() == 1 ? "" : "one of ";
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    if (i > 0) list += ", ";
    list += names[i];
  }
  if (names.size() > most) list += ", ... (" + std::to_string(names.size()) + " in all)";
  return list + near;
}

}  // namespace stepcast::language
