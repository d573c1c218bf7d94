#include "language/sites/cluster_of_site.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "language/configs/files.h"
#include "language/core/nearest.h"
#include "language/core/type.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

constexpr double kRounding = 1 - 1e-9;

/// Digits that read back as the same number.
std::string exactly(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string gbit(Bandwidth bandwidth) { return exactly(bandwidth.value * 8 / 1e9) + " Gbit/s"; }

/// Text as a YAML scalar in single quotes.
std::string in_yaml_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

class ClusterWriter {
 public:
  ClusterWriter(const Site& site, const SiteAnswers& answers, Library& library)
      : site_(site), answers_(answers), library_(library) {
    Node name = make_scalar(answers.node, {"--node", 0, 0});
    const Node whole = library.expand_block(name, node_schema(), "cluster.node");
    Value value;
    value.node = &whole;
    value.path = "cluster.node";
    value.text = answers.node;
    value.library = &library;
    node_ = read_node(value).spec;
    if (!node_.nic || node_.nics == 0)
      throw InputError("--node",
                       "found " + in_quotes(answers.node) + ", which has no network cards, expected a node with some");
  }

  std::string write() {
    choose_nodes();
    count_cards();
    std::string out = "# Made by " + answers_.made_by + ".\n";
    for (const std::string& remark : site_.remarks) out += "# " + remark + "\n";
    for (const std::string& remark : remarks_) out += "# " + remark + "\n";
    out += "node: " + answers_.node + "  # --node\n";
    out += "nodelist: " + in_yaml_quotes(nodelist_) + "  # " + nodelist_from_ + "\n";
    return out + "fabric:\n  kind: graph\n" + latencies() + switches() + cables();
  }

 private:
  /// Which nodes are of this kind of machine, and which of them the job has.
  void choose_nodes() {
    std::unordered_map<std::string, const SiteNode*> told;
    for (const SiteNode& node : answers_.nodes) told.emplace(node.name, &node);
    std::vector<std::string> up, down, other, cabled_otherwise, slow;
    for (const SiteSwitch& one : site_.switches) {
      for (const std::string& name : one.nodes) {
        if (!listed_.emplace(name, false).second) continue;
        const auto known = told.find(name);
        if (!told.empty() && (known == told.end() || known->second->gpus != node_.gpus)) {
          other.push_back(name);
          continue;
        }
        if (const auto cards = site_.cards.find(name); cards != site_.cards.end()) {
          if (cards->second.count != node_.nics) {
            cabled_otherwise.push_back(name);
            continue;
          }
          if (cards->second.slowest < node_.nic->bandwidth * kRounding) slow.push_back(name);
        }
        listed_[name] = true;
        (known != told.end() && !known->second->up ? down : up).push_back(name);
      }
    }
    if (!other.empty())
      remarks_.push_back("Left out, as they do not have the " + std::to_string(node_.gpus) + " GPUs of " +
                         answers_.node + ": " + topology::fold_hostlist(other) + ".");
    if (!cabled_otherwise.empty())
      remarks_.push_back("Left out, as they do not have the " + std::to_string(node_.nics) + " network cards of " +
                         answers_.node + " on this network: " + topology::fold_hostlist(cabled_otherwise) + "." +
                         (site_.choose_cards.empty() ? "" : " (" + site_.choose_cards + ".)"));
    if (!slow.empty())
      remarks_.push_back("Links of network cards slower than the " + gbit(node_.nic->bandwidth) + " of " +
                         answers_.node + ", which is taken all the same, on: " + topology::fold_hostlist(slow) + ".");
    if (!down.empty()) remarks_.push_back("Not up: " + topology::fold_hostlist(down) + ".");
    if (answers_.nodelist.empty()) {
      if (up.empty() && !cabled_otherwise.empty()) fail_for_cards("stepcast import", cabled_otherwise.front());
      if (up.empty())
        throw InputError("stepcast import", "found no node that is up with the GPUs of " + in_quotes(answers_.node));
      nodelist_ = topology::fold_hostlist(up);
      nodelist_from_ = "all that are up; --nodelist says which a job has, in the order of its ranks";
      return;
    }
    nodelist_ = answers_.nodelist;
    nodelist_from_ = answers_.nodelist_from;
    check_listed(told);
  }

  void check_listed(const std::unordered_map<std::string, const SiteNode*>& told) const {
    std::vector<std::string_view> names;
    for (const auto& [name, kept] : listed_) names.push_back(name);
    for (const std::string& name : topology::expand_hostlist(nodelist_, answers_.nodelist_from)) {
      const auto known = listed_.find(name);
      if (known == listed_.end())
        throw InputError(answers_.nodelist_from,
                         "found the node " + in_quotes(name) + ", which no switch lists" + did_you_mean(name, names));
      if (known->second) continue;
      if (const auto cards = site_.cards.find(name); cards != site_.cards.end() && cards->second.count != node_.nics)
        fail_for_cards(answers_.nodelist_from, name);
      const auto node = told.find(name);
      if (node == told.end())
        throw InputError(answers_.nodelist_from,
                         "found the node " + in_quotes(name) + ", which scontrol does not show");
      fail(node->second->place, "",
           "found " + std::to_string(node->second->gpus) + " GPUs on node " + in_quotes(name) +
               " of the job, expected the " + std::to_string(node_.gpus) + " of " + in_quotes(answers_.node));
    }
  }

  [[noreturn]] void fail_for_cards(const std::string& place, const std::string& node) const {
    throw InputError(place,
                     "found the node " + in_quotes(node) + " with " + std::to_string(site_.cards.at(node).count) +
                         " network cards on this network, expected the " + std::to_string(node_.nics) + " of " +
                         in_quotes(answers_.node) + (site_.choose_cards.empty() ? "" : "; " + site_.choose_cards));
  }

  /// Of each switch the network cards somewhere below it.
  void count_cards() {
    for (const SiteSwitch& one : site_.switches) cards_[one.name] = 0;
    std::map<std::string, std::vector<std::string>> above;
    for (const SiteCables& cable : site_.cables) above[cable.below].push_back(cable.above);
    for (const auto& [name, all] : above) parents_[name] = all.size();
    for (const SiteSwitch& one : site_.switches) {
      const auto nodes = static_cast<std::uint64_t>(
          std::ranges::count_if(one.nodes, [&](const std::string& n) { return listed_[n]; }));
      if (nodes == 0) continue;
      std::set<std::string> seen;
      std::vector<std::string> here{one.name};
      while (!here.empty()) {
        const std::string at = here.back();
        here.pop_back();
        if (!seen.insert(at).second) continue;
        cards_[at] += nodes * (one.nics.empty() ? node_.nics : one.nics.size());
        here.insert(here.end(), above[at].begin(), above[at].end());
      }
    }
  }

  std::string latencies() {
    if (node_.fabric.empty()) return "";
    Node name = make_scalar(node_.fabric, {"--node", 0, 0});
    const Node whole = library_.expand_block(name, fabric_schema(), "cluster.fabric");
    Value value;
    value.node = &whole;
    value.path = "cluster.fabric";
    value.library = &library_;
    const topology::FabricSpec usual = read_block(fabric_table(), value);
    const std::string why = "  # assumed: as " + node_.fabric + " has it, which such nodes usually have\n";
    return "  switch_latency: " + std::to_string(usual.switch_latency.value / 1000) + " ns" + why +
           "  cable_latency: " + std::to_string(usual.cable_latency.value / 1000) + " ns" + why;
  }

  /// Of a switch's nodes those that are of this kind of machine.
  std::vector<std::string> kept(const SiteSwitch& one) const {
    std::vector<std::string> nodes;
    std::ranges::copy_if(one.nodes, std::back_inserter(nodes), [&](const std::string& n) { return listed_.at(n); });
    return nodes;
  }

  std::string switches() const {
    std::string out = "  switches:\n";
    std::set<std::string> with_nodes, written;
    for (const SiteSwitch& one : site_.switches)
      if (!kept(one).empty()) with_nodes.insert(one.name);
    for (const SiteSwitch& one : site_.switches) {
      const std::vector<std::string> nodes = kept(one);
      if (cards_.at(one.name) == 0) continue;
      if (nodes.empty() && (with_nodes.contains(one.name) || !written.insert(one.name).second)) continue;
      out += "    - {name: " + in_yaml_quotes(one.name);
      if (!nodes.empty()) out += ", nodes: " + in_yaml_quotes(topology::fold_hostlist(nodes));
      if (!nodes.empty() && !one.nics.empty()) {
        std::vector<std::string> cards;
        for (const std::uint32_t nic : one.nics) cards.push_back(std::to_string(nic));
        const std::string folded = topology::fold_hostlist(cards);
        out += ", nics: " + in_yaml_quotes(folded.starts_with('[') ? folded.substr(1, folded.size() - 2) : folded);
      }
      out += "}  # " + text(one.place) + "\n";
    }
    return out;
  }

  /// Whether both ends have nodes of this kind of machine below them.
  bool leads_somewhere(const SiteCables& cable) const {
    return cards_.at(cable.below) > 0 && cards_.at(cable.above) > 0;
  }

  /// Cables whose bandwidth the file says. Those of a switch to several others that are alike stand on one line, and so
  /// do those of several switches to the same others: a fabric has hundreds of thousands.
  std::string known_cables() const {
    using Kind = std::pair<double, std::uint32_t>;  // bandwidth, count
    struct SwitchesAbove {
      std::vector<std::string> switches;
      Place place;
    };
    std::vector<std::pair<std::string, Kind>> order;
    std::map<std::pair<std::string, Kind>, SwitchesAbove> above;
    for (const SiteCables& cable : site_.cables) {
      if (!cable.bandwidth || !leads_somewhere(cable)) continue;
      const std::pair key{cable.below, Kind{cable.bandwidth->value, cable.count}};
      const auto [known, fresh] = above.try_emplace(key, SwitchesAbove{{}, cable.place});
      if (fresh) order.push_back(key);
      known->second.switches.push_back(cable.above);
    }
    struct CableLine {
      std::vector<std::string> below;
      std::string above;
      Kind kind;
      Place place;
    };
    std::vector<CableLine> lines;
    std::map<std::pair<std::string, Kind>, std::size_t> line_of;
    for (const auto& key : order) {
      const SwitchesAbove& to = above.at(key);
      const std::string folded = topology::fold_hostlist(to.switches);
      const auto [known, fresh] = line_of.try_emplace(std::pair{folded, key.second}, lines.size());
      if (fresh) lines.push_back({{}, folded, key.second, to.place});
      lines[known->second].below.push_back(key.first);
    }
    std::string out;
    for (const CableLine& line : lines)
      out += "    - {from: " + in_yaml_quotes(topology::fold_hostlist(line.below)) +
             ", to: " + in_yaml_quotes(line.above) + ", bandwidth: " + gbit({line.kind.first}) +
             ", count: " + std::to_string(line.kind.second) + "}  # " + text(line.place) +
             (line.below.size() > 1 ? " and more" : "") + "\n";
    return out;
  }

  /// Cables of which the file says only that they are there.
  std::string assumed_cables() const {
    std::string out;
    const std::string why =
        answers_.oversubscription_said
            ? "; what it leads up by --oversubscription"
            : "; assumed: it leads up all that the cards below it can send, --oversubscription says otherwise";
    for (const SiteCables& cable : site_.cables) {
      if (cable.bandwidth || !leads_somewhere(cable)) continue;
      const Bandwidth up =
          node_.nic->bandwidth * (static_cast<double>(cards_.at(cable.below)) / answers_.oversubscription /
                                  static_cast<double>(parents_.at(cable.below)));
      out += "    - {from: " + in_yaml_quotes(cable.below) + ", to: " + in_yaml_quotes(cable.above) +
             ", bandwidth: " + gbit(up) + "}  # " + text(cable.place) + why + "\n";
    }
    return out;
  }

  std::string cables() const {
    const std::string out = known_cables() + assumed_cables();
    return out.empty() ? out : "  cables:\n" + out;
  }

  const Site& site_;
  const SiteAnswers& answers_;
  Library& library_;
  topology::NodeSpec node_;
  std::map<std::string, bool> listed_;  ///< nodes on switches, and whether they are of this kind of machine
  std::map<std::string, std::uint64_t> cards_;
  std::map<std::string, std::size_t> parents_;
  std::string nodelist_, nodelist_from_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::string cluster_of_site(const Site& site, const SiteAnswers& answers, Library& library) {
  return ClusterWriter(site, answers, library).write();
}

}  // namespace stepcast::language
