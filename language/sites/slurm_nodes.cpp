#include "language/sites/slurm_nodes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "language/core/type.h"
#include "language/sites/slurm_pairs.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// "gpu:h100:8(S:0-1),tmpfs:1": each gpu of the list counts.
void read_gres(const SlurmPair& gres, SiteNode& node) {
  std::string value = gres.value;
  int depth = 0;
  std::string flat;  // without what stands in parentheses, where commas may stand
  for (const char c : value) {
    if (c == '(') ++depth;
    if (depth == 0) flat += c;
    if (c == ')' && depth > 0) --depth;
  }
  for (std::size_t begin = 0; begin <= flat.size();) {
    const std::size_t end = std::min(flat.find(',', begin), flat.size());
    const std::string item = flat.substr(begin, end - begin);
    begin = end + 1;
    if (item != "gpu" && !item.starts_with("gpu:")) continue;
    const std::size_t last = item.rfind(':');
    std::uint32_t count = 1;
    if (last != std::string::npos) {
      const char *const first = item.data() + last + 1, *const stop = item.data() + item.size();
      const auto [rest, error] = std::from_chars(first, stop, count);
      if (error != std::errc{} || rest != stop || count > 1024)
        fail(gres.value_place, gres.key, "found " + in_quotes(item) + ", expected GPUs such as gpu:h100:8");
    }
    node.gpus += count;
    constexpr std::size_t kPrefix = 4;  // of "gpu:"
    if (last != std::string::npos && last > kPrefix) node.gpu = item.substr(kPrefix, last - kPrefix);
  }
}

/// "MIXED+DRAIN": states with flags.
bool is_up(const std::string& state) {
  static constexpr std::array<std::string_view, 10> kAway{"DOWN",          "DRAIN", "FAIL",         "NOT_RESPONDING",
                                                          "FUTURE",        "MAINT", "POWERED_DOWN", "UNKNOWN",
                                                          "POWERING_DOWN", "REBOOT"};
  return std::ranges::none_of(kAway, [&](std::string_view away) { return state.find(away) != std::string::npos; }) &&
         !state.ends_with('*');
}

}  // namespace

std::vector<SiteNode> read_slurm_nodes(std::string_view text, const std::string& file) {
  std::vector<SiteNode> nodes;
  std::map<std::string, std::uint32_t> lines;
  for (const std::vector<SlurmPair>& line : read_slurm_pairs(text, file, false)) {
    for (const SlurmPair& pair : line) {
      if (same_key(pair.key, "NodeName")) {
        nodes.push_back({pair.value, {}, 0, true, pair.place});
        if (const auto known = lines.emplace(pair.value, pair.place.line); !known.second)
          fail(pair.value_place, pair.key,
               "found " + in_quotes(pair.value) + " a second time, expected it once (first on line " +
                   std::to_string(known.first->second) + ")");
        continue;
      }
      if (nodes.empty())
        fail(pair.place, "",
             "found " + in_quotes(pair.key) + " before any NodeName, expected what 'scontrol show nodes' prints");
      if (same_key(pair.key, "Gres")) read_gres(pair, nodes.back());
      if (same_key(pair.key, "State")) nodes.back().up = is_up(pair.value);
    }
  }
  if (nodes.empty()) throw InputError(file, "found no NodeName, expected what 'scontrol show nodes' prints");
  return nodes;
}

}  // namespace stepcast::language
