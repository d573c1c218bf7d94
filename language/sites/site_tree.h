#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "language/sites/site.h"

namespace stepcast::language {

/// What the switch above blocks is called, which no file names.
inline constexpr const char* kAboveBlocks = "above-the-blocks";

/// Puts a site together of switches with nodes, and switches above others, as one file after the other lists them.
class SiteTree {
 public:
  /// Adds a switch. Throws InputError for a name that is empty or there already, and a node that is on another switch.
  void add_switch(const std::string& name, const std::string& key, const Place& name_place, const Place& place,
                  std::vector<std::string> nodes);

  /// Puts switches below another. `key`, `place`: where they are named.
  void put_below(const std::string& above, const std::vector<std::string>& children, const std::string& key,
                 const Place& place);

  bool empty() const { return site_.switches.empty(); }
  std::size_t size() const { return site_.switches.size(); }
  void remark(std::string sentence) { site_.remarks.push_back(std::move(sentence)); }

  /// Joins all switches by one above them, with a remark: they are groups of nodes that are near each other, and of
  /// whatever joins them nothing is known. `what`: their plural, such as "Blocks".
  void join_all(const std::string& what);

  /// All that was put together. Throws InputError for switches below others that nobody added, and for one inside
  /// itself.
  Site finish();

 private:
  void check_children() const;

  Site site_;
  std::vector<std::string> keys_;                 ///< of site_.cables: what names the switch below
  std::map<std::string, Place> places_;           ///< of the names of switches
  std::map<std::string, std::string> switch_of_;  ///< node to switch
};

}  // namespace stepcast::language
