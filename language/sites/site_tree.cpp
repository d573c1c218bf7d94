#include "language/sites/site_tree.h"

#include <string_view>
#include <utility>

#include "language/core/nearest.h"
#include "language/core/type.h"
#include "sim/in_quotes.h"

namespace stepcast::language {

void SiteTree::add_switch(const std::string& name, const std::string& key, const Place& name_place, const Place& place,
                          std::vector<std::string> nodes) {
  if (name.empty()) fail(name_place, key, "found nothing, expected a name");
  if (const auto known = places_.emplace(name, name_place); !known.second)
    fail(name_place, key,
         "found " + in_quotes(name) + " a second time, expected it once (first on line " +
             std::to_string(known.first->second.line) + ")");
  for (const std::string& node : nodes)
    if (const auto known = switch_of_.emplace(node, name); !known.second)
      fail(place, "",
           "found the node " + in_quotes(node) + " on " + in_quotes(known.first->second) + " and on " +
               in_quotes(name) + ", expected it on one");
  site_.switches.push_back({name, std::move(nodes), {}, place});
}

void SiteTree::put_below(const std::string& above, const std::vector<std::string>& children, const std::string& key,
                         const Place& place) {
  for (const std::string& child : children) {
    site_.cables.push_back({child, above, std::nullopt, 1, place});
    keys_.push_back(key);
  }
}

void SiteTree::join_all(const std::string& what) {
  site_.remarks.push_back(what +
                          " say which nodes are near each other, not by what: assumed a switch for each, and one above "
                          "them all.");
  const std::size_t all = site_.switches.size();
  const Place first = site_.switches.front().place;
  for (std::size_t i = 0; i < all; ++i) put_below(kAboveBlocks, {site_.switches[i].name}, "", site_.switches[i].place);
  add_switch(kAboveBlocks, "", first, first, {});
}

void SiteTree::check_children() const {
  std::map<std::string, std::vector<std::string>> parents;
  std::vector<std::string_view> names;
  for (const SiteSwitch& one : site_.switches) names.push_back(one.name);
  for (std::size_t i = 0; i < site_.cables.size(); ++i) {
    const SiteCables& cable = site_.cables[i];
    if (!places_.contains(cable.below))
      fail(cable.place, keys_[i],
           "found " + in_quotes(cable.below) + ", which no line names" + did_you_mean(cable.below, names));
    parents[cable.below].push_back(cable.above);
  }
  for (std::size_t i = 0; i < site_.cables.size(); ++i) {
    std::map<std::string, bool> seen;
    std::vector<std::string> above{site_.cables[i].above};
    while (!above.empty()) {
      const std::string at = above.back();
      above.pop_back();
      if (at == site_.cables[i].below)
        fail(site_.cables[i].place, keys_[i], "found " + in_quotes(at) + " inside itself, expected a tree");
      if (!seen.emplace(at, true).second) continue;
      if (const auto up = parents.find(at); up != parents.end())
        above.insert(above.end(), up->second.begin(), up->second.end());
    }
  }
}

Site SiteTree::finish() {
  check_children();
  return std::move(site_);
}

}  // namespace stepcast::language
