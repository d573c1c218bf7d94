#include "language/sites/slurm_topology.h"

#include <algorithm>
#include <map>
#include <optional>

#include "language/core/nearest.h"
#include "language/core/type.h"
#include "language/sites/slurm_pairs.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

constexpr const char* kAboveBlocks = "above-the-blocks";

/// A list of names, where it stands.
std::vector<std::string> names_of(const SlurmPair& pair) {
  try {
    return topology::expand_hostlist(pair.value);
  } catch (const InputError& error) {
    fail(pair.value_place, pair.key, error.what());
  }
}

/// The pairs of one line by the keys that it may have.
class LineKeys {
 public:
  LineKeys(const std::vector<SlurmPair>& line, const Names& known) {
    for (const SlurmPair& pair : line) {
      const auto key = std::ranges::find_if(known, [&](std::string_view k) { return same_key(k, pair.key); });
      if (key == known.end())
        fail(pair.place, "", "found the unknown key " + in_quotes(pair.key) + ", expected " + one_of(pair.key, known));
      if (!pairs_.emplace(*key, &pair).second)
        fail(pair.place, "", "found " + std::string(*key) + " a second time, expected it once");
    }
  }
  const SlurmPair* find(std::string_view key) const {
    const auto pair = pairs_.find(key);
    return pair == pairs_.end() ? nullptr : pair->second;
  }

 private:
  std::map<std::string_view, const SlurmPair*> pairs_;
};

class TopologyReader {
 public:
  Site read(std::string_view text, const std::string& file) {
    for (const std::vector<SlurmPair>& line : read_slurm_pairs(text, file, true)) {
      if (same_key(line.front().key, "SwitchName"))
        one_switch(line);
      else if (same_key(line.front().key, "BlockName"))
        one_block(line);
      else if (same_key(line.front().key, "BlockSizes"))
        LineKeys(line, {"BlockSizes"});
      else
        fail(line.front().place, "",
             "found a line that begins with " + in_quotes(line.front().key) + ", expected " +
                 one_of(line.front().key, Names{"SwitchName", "BlockName", "BlockSizes"}));
    }
    if (site_.switches.empty())
      throw InputError(file, "found no switch and no block, expected lines such as 'SwitchName=leaf1 Nodes=n[1-16]'");
    if (blocks_ > 1) join_blocks();
    check_children();
    if (link_speeds_)
      site_.remarks.emplace_back("LinkSpeed is not used: its unit is arbitrary, and Slurm does not read it.");
    return std::move(site_);
  }

 private:
  void add_switch(const SlurmPair& name, std::vector<std::string> nodes) {
    if (name.value.empty()) fail(name.value_place, name.key, "found nothing, expected a name");
    if (!places_.emplace(name.value, name.value_place).second)
      fail(name.value_place, name.key,
           "found " + in_quotes(name.value) + " a second time, expected it once (first on line " +
               std::to_string(places_.at(name.value).line) + ")");
    for (const std::string& node : nodes)
      if (const auto known = switch_of_.emplace(node, name.value); !known.second)
        fail(name.place, "",
             "found the node " + in_quotes(node) + " on " + in_quotes(known.first->second) + " and on " +
                 in_quotes(name.value) + ", expected it on one");
    site_.switches.push_back({name.value, std::move(nodes), {}, name.place});
  }

  void one_switch(const std::vector<SlurmPair>& line) {
    const LineKeys keys(line, {"SwitchName", "Switches", "Nodes", "LinkSpeed"});
    const SlurmPair& name = *keys.find("SwitchName");
    const SlurmPair *nodes = keys.find("Nodes"), *switches = keys.find("Switches");
    if ((nodes == nullptr) == (switches == nullptr))
      fail(name.place, "",
           "found a switch with " + std::string(nodes == nullptr ? "neither" : "both") +
               " of Nodes and Switches, expected one of them");
    link_speeds_ = link_speeds_ || keys.find("LinkSpeed") != nullptr;
    add_switch(name, nodes != nullptr ? names_of(*nodes) : std::vector<std::string>());
    if (switches == nullptr) return;
    for (std::string& child : names_of(*switches))
      site_.cables.push_back({std::move(child), name.value, std::nullopt, 1, switches->value_place});
  }

  void one_block(const std::vector<SlurmPair>& line) {
    const LineKeys keys(line, {"BlockName", "Nodes", "BlockSizes"});
    const SlurmPair* const nodes = keys.find("Nodes");
    if (nodes == nullptr) fail(line.front().place, "", "found a block without Nodes, expected them");
    add_switch(*keys.find("BlockName"), names_of(*nodes));
    ++blocks_;
  }

  /// Blocks are groups of nodes that are near each other, of whatever joins them Slurm is told nothing.
  void join_blocks() {
    site_.remarks.emplace_back(
        "Blocks say which nodes are near each other, not by what: assumed a switch for each, and one above them all.");
    const std::size_t lists = site_.switches.size();
    for (std::size_t i = 0; i < lists; ++i)
      site_.cables.push_back({site_.switches[i].name, kAboveBlocks, std::nullopt, 1, site_.switches[i].place});
    places_.emplace(kAboveBlocks, Place{});
    site_.switches.push_back({kAboveBlocks, {}, {}, site_.switches.front().place});
  }

  void check_children() const {
    std::map<std::string, std::vector<std::string>> parents;
    std::vector<std::string_view> names;
    for (const SiteSwitch& one : site_.switches) names.push_back(one.name);
    for (const SiteCables& cable : site_.cables) {
      if (!places_.contains(cable.below))
        fail(cable.place, "Switches",
             "found " + in_quotes(cable.below) + ", which no line names" + did_you_mean(cable.below, names));
      parents[cable.below].push_back(cable.above);
    }
    for (const SiteCables& cable : site_.cables) {
      std::map<std::string, bool> seen;
      std::vector<std::string> above{cable.above};
      while (!above.empty()) {
        const std::string at = above.back();
        above.pop_back();
        if (at == cable.below)
          fail(cable.place, "Switches", "found " + in_quotes(at) + " inside itself, expected a tree");
        if (!seen.emplace(at, true).second) continue;
        if (const auto up = parents.find(at); up != parents.end())
          above.insert(above.end(), up->second.begin(), up->second.end());
      }
    }
  }

  Site site_;
  std::map<std::string, Place> places_;           ///< of the names of switches and blocks
  std::map<std::string, std::string> switch_of_;  ///< node to switch
  std::size_t blocks_ = 0;
  bool link_speeds_ = false;
};

}  // namespace

Site read_slurm_topology(std::string_view text, const std::string& file) { return TopologyReader().read(text, file); }

}  // namespace stepcast::language
