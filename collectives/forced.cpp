#include "collectives/forced.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "collectives/algorithms.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;  // as written, in small letters; what it means

std::string small(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The words of a list with commas; all of `own` but them where the list starts with ^.
std::vector<std::string> chosen(std::string_view list, const Names& names, const std::vector<std::string>& own) {
  const bool all_but = list.starts_with('^');
  std::vector<std::string> found;
  for (std::string_view rest = list.substr(all_but ? 1 : 0);;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const auto known = std::ranges::find(names, small(word), &Names::value_type::first);
    if (known == names.end()) {
      std::string allowed;
      for (const auto& [name, meaning] : names) {
        if (name == small(meaning)) allowed += (allowed.empty() ? "" : ", ") + meaning;
      }
      throw InputError("", "found " + in_quotes(word) + ", expected names with commas between them, or ^ and " +
                               "names, of: " + allowed);
    }
    if (std::ranges::find(found, known->second) == found.end()) found.push_back(known->second);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (!all_but) return found;
  std::vector<std::string> others;
  for (const std::string& name : own) {
    if (std::ranges::find(found, name) == found.end()) others.push_back(name);
  }
  if (others.empty()) throw InputError("", "found " + in_quotes(list) + ", which leaves nothing");
  return others;
}

}  // namespace

std::vector<std::string> forced_algorithms(std::string_view list) {
  Names names;
  for (const Algorithm* each : algorithms()) names.emplace_back(each->name, each->name);
  for (const auto& [theirs, ours] : {std::pair{"tree", "double-binary-tree"},
                                     {"nvlstree", "nvls-tree"},
                                     {"collnetdirect", "sharp"},
                                     {"collnetchain", "sharp"}}) {
    const auto known = std::ranges::find(names, theirs, &Names::value_type::first);
    if (known != names.end()) {
      known->second = ours;  // NCCL has no single tree
    } else {
      names.emplace_back(theirs, ours);
    }
  }
  return chosen(list, names, {"ring", "double-binary-tree", "nvls", "nvls-tree", "direct", "send-recv"});
}

std::vector<std::string> forced_protocols(std::string_view list) {
  return chosen(list, {{"simple", "Simple"}, {"ll128", "LL128"}, {"ll", "LL"}}, {"Simple", "LL128", "LL"});
}

}  // namespace stepcast::collectives
