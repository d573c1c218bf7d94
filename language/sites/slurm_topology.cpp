#include "language/sites/slurm_topology.h"

#include <algorithm>
#include <map>
#include <optional>

#include "language/core/nearest.h"
#include "language/core/type.h"
#include "language/sites/site_tree.h"
#include "language/sites/slurm_pairs.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

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
    if (tree_.empty())
      throw InputError(file, "found no switch and no block, expected lines such as 'SwitchName=leaf1 Nodes=n[1-16]'");
    if (blocks_ > 1) tree_.join_all("Blocks");
    if (link_speeds_) tree_.remark("LinkSpeed is not used: its unit is arbitrary, and Slurm does not read it.");
    return tree_.finish();
  }

 private:
  void add_switch(const SlurmPair& name, std::vector<std::string> nodes) {
    tree_.add_switch(name.value, name.key, name.value_place, name.place, std::move(nodes));
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
    if (switches != nullptr) tree_.put_below(name.value, names_of(*switches), "Switches", switches->value_place);
  }

  void one_block(const std::vector<SlurmPair>& line) {
    const LineKeys keys(line, {"BlockName", "Nodes", "BlockSizes"});
    const SlurmPair* const nodes = keys.find("Nodes");
    if (nodes == nullptr) return;  // holds a place, so that blocks above it have their size
    add_switch(*keys.find("BlockName"), names_of(*nodes));
    ++blocks_;
  }

  SiteTree tree_;
  std::size_t blocks_ = 0;
  bool link_speeds_ = false;
};

}  // namespace

Site read_slurm_topology(std::string_view text, const std::string& file) { return TopologyReader().read(text, file); }

}  // namespace stepcast::language
