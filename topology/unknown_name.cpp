#include "topology/unknown_name.h"

#include <algorithm>
#include <numeric>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::topology {

namespace {

/// Levenshtein's distance: insertions, deletions and replacements of single characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void throw_unknown_name(const std::string& place, std::string_view what, std::string_view name,
                        const std::vector<std::string_view>& allowed) {
  constexpr std::size_t kLongest = 64, kMost = 100;  // compared; listed
  std::string text = std::string(what) + " " + in_quotes(name) + " is unknown";
  auto nearest = allowed.end();
  if (name.size() <= kLongest) {
    nearest = std::min_element(allowed.begin(), allowed.end(), [&](std::string_view a, std::string_view b) {
      return edit_distance(name, a) < edit_distance(name, b);
    });
  }
  if (nearest != allowed.end() && 2 * edit_distance(name, *nearest) < std::max(name.size(), nearest->size())) {
    text += "; did you mean " + in_quotes(*nearest) + "?";
  } else {
    text += ".";
  }
  text += " Allowed: ";
  for (std::size_t i = 0; i < std::min(allowed.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + std::string(allowed[i].substr(0, kLongest));
  if (allowed.size() > kMost) text += ", ... (" + std::to_string(allowed.size()) + " in all)";
  throw InputError(place, text);
}

}  // namespace stepcast::topology
