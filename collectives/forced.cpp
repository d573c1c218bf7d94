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

/// The words of a list with commas, what each means, once. `allowed`: in the words of the message.
std::vector<std::string> read_list(std::string_view list, const Names& names, std::string_view allowed) {
  std::vector<std::string> found;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const auto known = std::ranges::find(names, small(word), &Names::value_type::first);
    if (known == names.end()) {
      throw InputError("",
                       "found " + in_quotes(word) +
                           ", expected names with commas between them, or ^ and names, of: " + std::string(allowed));
    }
    if (std::ranges::find(found, known->second) == found.end()) found.push_back(known->second);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return found;
}

bool is_all_but(std::string_view list) { return list.starts_with('^'); }

}  // namespace

ForcedAlgorithms forced_algorithms(std::string_view list) {
  struct Theirs {
    std::string_view name, ours;
  };
  constexpr Theirs theirs[] = {{"Tree", "double-binary-tree"},  // NCCL has no single tree
                               {"NVLSTree", "nvls-tree"},
                               {"CollNetDirect", "sharp"},
                               {"CollNetChain", "sharp"}};
  Names names;
  std::string allowed;
  for (const auto& [name, ours] : theirs) names.emplace_back(small(name), ours);
  for (const Algorithm* each : algorithms()) {
    if (std::ranges::find(names, each->name, &Names::value_type::first) != names.end()) continue;
    names.emplace_back(each->name, each->name);
    allowed += (allowed.empty() ? "" : ", ") + std::string(each->name);
  }
  allowed += "; or NCCL's";
  for (const Theirs& each : theirs) allowed += (&each == theirs ? " " : ", ") + std::string(each.name);
  if (is_all_but(list)) return {.alone = {}, .without = read_list(list.substr(1), names, allowed)};
  return {.alone = read_list(list, names, allowed), .without = {}};
}

std::vector<std::string> forced_protocols(std::string_view list) {
  const Names names = {{"simple", "Simple"}, {"ll128", "LL128"}, {"ll", "LL"}};
  const bool all_but = is_all_but(list);
  const std::vector<std::string> named = read_list(list.substr(all_but ? 1 : 0), names, "Simple, LL128, LL");
  if (!all_but) return named;
  std::vector<std::string> others;
  for (const auto& [word, name] : names)
    if (std::ranges::find(named, name) == named.end()) others.push_back(name);
  if (others.empty()) throw InputError("", "found " + in_quotes(list) + ", which leaves nothing");
  return others;
}

}  // namespace stepcast::collectives
